// REXD v1: fs.read.

import { isUtf8 } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import { statSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { verifies } from '../kit/verifies.js';
import { startFiles } from './fs-client.js';

const MIB = 1024 * 1024;

verifies('rexd/fs.read/result', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'hello\n');
  const mtime = Math.floor(statSync(path).mtimeMs);
  const facts = { path, size: 6, mtime, encoding: 'utf8', content: 'hello\n', truncated: false };
  expect(await files.ask('fs.read', { path })).toEqual(facts);
});

verifies('rexd/fs.read/encoding', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', '\uFEFFh\u00E9\u0000"\\\u{1F600}');
  expect(await files.ask('fs.read', { path })).toMatchObject({
    encoding: 'utf8',
    content: '\uFEFFh\u00E9\u0000"\\\u{1F600}', // the byte order mark is part of the file
  });
  const { content } = await files.ask('fs.read', { path, encoding: 'base64' });
  expect(Buffer.from(content as string, 'base64').toString()).toBe('\uFEFFh\u00E9\u0000"\\\u{1F600}');
  expect(await files.refusal('fs.read', { path, encoding: 'latin1' })).toMatchObject({ code: -32602 });
});

verifies('rexd/fs.read/not-text', async () => {
  await using files = await startFiles();
  const bytes = Buffer.from([0x61, 0xff, 0x00, 0x62]);
  const path = files.put('a.bin', bytes);
  expect(await files.ask('fs.read', { path })).toMatchObject({
    encoding: 'base64',
    content: bytes.toString('base64'),
  });
  expect(await files.ask('fs.read', { path, encoding: 'utf8' })).toMatchObject({
    encoding: 'utf8',
    content: 'a\uFFFD\0b',
  });
});

verifies('rexd/fs.read/range', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', '0123456789');
  const range = async (params: object): Promise<unknown[]> => {
    const { content, truncated } = await files.ask('fs.read', { path, ...params });
    return [content, truncated];
  };
  expect(await range({ offset: 2, length: 3 })).toEqual(['234', true]);
  expect(await range({ offset: 8 })).toEqual(['89', false]);
  expect(await range({ offset: 8, length: 2 })).toEqual(['89', false]);
  expect(await range({ offset: 10 })).toEqual(['', false]);
  expect(await range({ offset: 99, length: 1 })).toEqual(['', false]);
  expect(await range({ length: 0 })).toEqual(['0123456789', false]);
  for (const wrong of [{ offset: -1 }, { length: -1 }, { offset: 0.5 }, { offset: '2' }]) {
    expect((await files.refusal('fs.read', { path, ...wrong })).code).toBe(-32602);
  }
});

verifies('rexd/fs.read/characters', async () => {
  await using files = await startFiles();
  const text = 'a\u00E9\u20AC\u{1F600}'.repeat(5);
  const path = files.put('a.txt', text);
  for (const encoding of ['utf8', undefined]) {
    for (const length of [1, 2, 3, 4, 5, 7, 11]) {
      // As a client goes on that counts what it got, and as one that goes in equal steps.
      for (const step of ['received', 'asked']) {
        let [read, offset, more] = ['', 0, true];
        while (more) {
          const part = await files.ask('fs.read', { path, offset, length, encoding });
          expect(part).toMatchObject({ encoding: 'utf8', content: expect.not.stringContaining('\uFFFD') });
          read += part['content'] as string;
          offset += step === 'asked' ? length : Buffer.byteLength(part['content'] as string);
          more = part['truncated'] as boolean;
        }
        expect(read, `${length} ${step}`).toBe(text);
      }
    }
  }
  expect(await files.ask('fs.read', { path, offset: 2, length: 2 })).toMatchObject({
    offset: 3,
    content: '\u20AC',
  });
  // As bytes a range is what was asked for.
  expect(await files.ask('fs.read', { path, offset: 2, length: 2, encoding: 'base64' })).toMatchObject({
    content: Buffer.from(text).subarray(2, 4).toString('base64'),
  });
});

verifies('rexd/fs.read/ranges', async () => {
  await using files = await startFiles();
  const bytes = fc.array(
    fc.oneof(
      fc.constantFrom('a', '\n', '\u00E9', '\u20AC', '\u{1F600}', '\uFEFF').map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 3 }).map((raw) => Buffer.from(raw)),
    ),
    { maxLength: 12 },
  );
  const inSteps = async (length: number, encoding: string | undefined, fixed: boolean): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let [offset, more] = [0, true]; more; ) {
      const part = await files.ask('fs.read', { path: 'f', offset, length, encoding });
      const given = Buffer.from(part['content'] as string, part['encoding'] as BufferEncoding);
      parts.push(given);
      offset += fixed ? length : given.length;
      more = part['truncated'] as boolean;
    }
    return Buffer.concat(parts);
  };
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (pieces, length, fixed) => {
      const content = Buffer.concat(pieces);
      files.put('f', content);
      expect(await inSteps(length, 'base64', fixed)).toEqual(content);
      if (isUtf8(content)) expect(await inSteps(length, 'utf8', fixed)).toEqual(content);
      expect(await inSteps(length, undefined, fixed)).toEqual(content);
    }),
    { numRuns: 40 },
  );
});

verifies('rexd/fs.read/limit', async () => {
  await using files = await startFiles({ max_file_read_bytes: 100 });
  const path = files.put('a.txt', 'x'.repeat(101));
  for (const length of [undefined, 0, 101, 1_000_000]) {
    const { content, truncated } = await files.ask('fs.read', { path, length });
    expect([(content as string).length, truncated], String(length)).toEqual([100, true]);
  }
  expect(await files.ask('fs.read', { path, offset: 1 })).toMatchObject({ truncated: false });
  truncateSync(path, 100);
  expect(await files.ask('fs.read', { path })).toMatchObject({ truncated: false, size: 100 });
});

verifies('rexd/fs.read/line-length', async () => {
  await using files = await startFiles({ max_file_read_bytes: 8 * MIB });
  const all: [string, Buffer][] = [
    ['plain', Buffer.alloc(2 * MIB, 'line\n')],
    ['escapes', Buffer.alloc(2 * MIB, '\u0001')],
    ['wide', Buffer.alloc(2 * MIB - 2, '\u20AC')],
    ['bytes', Buffer.alloc(2 * MIB, 0xff)],
  ];
  for (const [name, content] of all) {
    const path = files.put(name, content);
    for (const encoding of [undefined, 'utf8', 'base64'] as const) {
      const { bytes, answer } = await files.answerBytes('fs.read', { path, encoding });
      expect(bytes, name).toBeLessThan(MIB);
      expect(answer.result).toMatchObject({ truncated: true, size: content.length });
      const given = answer.result?.['encoding'] as 'utf8' | 'base64';
      const got = Buffer.from(answer.result?.['content'] as string, given);
      if (name !== 'bytes' || given === 'base64')
        expect(content.subarray(0, got.length).equals(got)).toBe(true);
    }
    // Who names a length has asked for it.
    const { answer } = await files.answerBytes('fs.read', { path, length: 2 * MIB, encoding: 'base64' });
    expect(answer.result).toMatchObject({ truncated: false });
  }
});

verifies('rexd/fs.read/no-file', async () => {
  await using files = await startFiles();
  const path = join(files.root, 'none');
  expect(await files.refusal('fs.read', { path })).toMatchObject({
    code: -32602,
    data: { reason: 'not_found', path },
  });
  expect(await files.refusal('fs.read', { path: files.root })).toMatchObject({
    code: -32602,
    data: { reason: 'not_a_file' },
  });
  expect((await files.refusal('fs.read', {})).message).toContain('path');
});

verifies('rexd/fs.read/relative', async () => {
  await using files = await startFiles();
  files.put('sub/a.txt', 'a');
  files.put('%2e%2e', 'literal');
  files.put('~', 'tilde');
  const content = async (path: string): Promise<unknown> => (await files.ask('fs.read', { path }))['content'];
  expect(await content('sub/a.txt')).toBe('a');
  expect(await content('./sub/../sub//a.txt')).toBe('a');
  expect(await content('%2e%2e')).toBe('literal');
  expect(await content('~')).toBe('tilde');
});

verifies('rexd/fs/special-files', async () => {
  await using files = await startFiles();
  const [fifo, socket] = [join(files.root, 'fifo'), join(files.root, 'socket')];
  execFileSync('mkfifo', [fifo]);
  const server = createServer().listen(socket);
  await once(server, 'listening');
  try {
    for (const path of [fifo, socket]) {
      for (const [method, params] of [
        ['fs.read', { path }],
        ['fs.write', { path, content: 'x' }],
        ['fs.write', { path, content: 'x', atomic: false }],
        ['fs.write', { path, content: 'x', mode: 'append' }],
        ['fs.edit', { path, old_string: 'a', new_string: 'b' }],
        ['fs.patch', { patch_text: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch` }],
      ] as const) {
        expect(await files.refusal(method, params)).toMatchObject({ code: -32602 });
      }
      expect(await files.ask('fs.stat', { path })).toMatchObject({ exists: true, type: 'other' });
    }
    const { entries } = await files.ask('fs.list', { path: files.root });
    expect(entries).toContainEqual(expect.objectContaining({ path: fifo, type: 'other' }));
  } finally {
    server.close();
    await once(server, 'close');
  }
});

verifies('rexd/example/read-file', async () => {
  await using files = await startFiles();
  const path = files.put('README.md', '# Hello\n');
  const answer = await files.rexd.exchange(
    `{"jsonrpc":"2.0","id":3,"method":"fs.read","params":{"session_id":"${files.session}","path":${JSON.stringify(path)}}}`,
  );
  expect(answer).toMatchObject({ id: 3, result: { path, content: '# Hello\n' } });
});
