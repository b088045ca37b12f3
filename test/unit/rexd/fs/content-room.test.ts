import { describe, expect, test } from 'vitest';
import { KEPT_CONTENT_BYTES, withContent } from '../../../../src/rexd/fs/content-room.js';

const LONG = 1024 * 1024;

describe('the content of a write', () => {
  const texts: Readonly<Record<string, string>> = {
    empty: '',
    short: 'short',
    long: 'line\n'.repeat(LONG / 5),
    'long and not ASCII': 'é€😀'.repeat(LONG / 12),
    'long with halves of characters': 'x\ud800'.repeat(LONG / 4),
    'as long as is kept': 'x'.repeat(KEPT_CONTENT_BYTES),
    'longer than KEPT_CONTENT_BYTES': 'x'.repeat(KEPT_CONTENT_BYTES + 1),
  };

  test.for(Object.keys(texts))('%s: is what Buffer makes of it', async (name) => {
    const text = texts[name] ?? '';
    const bytes = Buffer.from(text);
    expect((await withContent(text, 'utf8', 'content', copy)).equals(bytes)).toBe(true);
    const base64 = bytes.toString('base64');
    expect((await withContent(base64, 'base64', 'content', copy)).equals(bytes)).toBe(true);
    const lines = base64.replaceAll(/(.{76})/g, '$1\r\n').replaceAll('=', '');
    expect((await withContent(lines, 'base64', 'content', copy)).equals(bytes)).toBe(true);
  });

  test('base64 that is none is refused before any work', async () => {
    const never = (): Promise<never> => Promise.reject(new Error('called'));
    const wrong = withContent(`${'A'.repeat(LONG)}*`, 'base64', 'content', never);
    await expect(wrong).rejects.toThrow('params.content: is not valid base64');
  });
});

test('one long content after the other lies in the same memory', async () => {
  const first = await withContent('a'.repeat(LONG), 'utf8', 'content', memoryOf);
  const second = await withContent('b'.repeat(LONG - 1), 'utf8', 'content', memoryOf);
  expect(second === first).toBe(true);
});

test('a longer content than KEPT_CONTENT_BYTES has memory of its own', async () => {
  const kept = await withContent('a'.repeat(LONG), 'utf8', 'content', memoryOf);
  const longer = await withContent('b'.repeat(KEPT_CONTENT_BYTES + 1), 'utf8', 'content', memoryOf);
  expect(longer === kept).toBe(false);
  const next = await withContent('c'.repeat(LONG), 'utf8', 'content', memoryOf);
  expect(next === kept).toBe(true);
});

test('contents that are being written at the same time do not share memory, also after one has failed', async () => {
  let go = (): void => {};
  const gone = new Promise<void>((resolve) => (go = resolve));
  const wait = async (bytes: Uint8Array): Promise<Buffer> => {
    await gone;
    return Buffer.from(bytes);
  };
  const fail = (): Promise<never> => Promise.reject(new Error('no room on the disk'));
  const slow = withContent('a'.repeat(LONG), 'utf8', 'content', wait);
  const beside = withContent('b'.repeat(LONG), 'utf8', 'content', wait);
  await expect(withContent('c'.repeat(LONG), 'utf8', 'content', fail)).rejects.toThrow('no room on the disk');
  const after = withContent('d'.repeat(LONG), 'utf8', 'content', wait);
  go();
  const contents = await Promise.all([slow, beside, after]);
  expect(contents.map((bytes) => bytes.equals(Buffer.alloc(LONG, bytes.subarray(0, 1))))).toEqual([
    true,
    true,
    true,
  ]);
  expect(contents.map((bytes) => bytes.toString('latin1', 0, 1))).toEqual(['a', 'b', 'd']);
});

function copy(bytes: Uint8Array): Promise<Buffer> {
  return Promise.resolve(Buffer.from(bytes));
}

function memoryOf(bytes: Uint8Array): Promise<ArrayBufferLike> {
  return Promise.resolve(bytes.buffer);
}
