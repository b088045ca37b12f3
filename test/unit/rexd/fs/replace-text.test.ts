import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_WRITE_BYTES } from '../../../../src/host/files/write.js';
import { replaceText } from '../../../../src/rexd/fs/replace-text.js';
import { runs } from '../../../helpers/runs.js';

const ALL = { all: true, path: '/f' };

test('replaces as text is replaced, by bytes', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 60 });
  const some = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(text, some, text, async (content, old, instead) => {
      fc.pre(content.includes(old) && old !== instead);
      const { content: result, replacements } = await replaceText(Buffer.from(content), old, instead, ALL);
      expect(result.toString()).toBe(content.replaceAll(old, () => instead));
      expect(replacements).toBe(content.split(old).length - 1);
    }),
    { numRuns: runs(1000) },
  );
});

test('a result over the limit is refused before any of it is made', async () => {
  const content = Buffer.alloc(MAX_WRITE_BYTES - 10, 'a');
  await expect(replaceText(content, 'a', 'bb', ALL)).rejects.toMatchObject({
    code: 'too_large',
    limit: MAX_WRITE_BYTES,
  });
});

test('sixteen million places are replaced in no more memory than the two files', async () => {
  const content = Buffer.alloc(16_000_000, 'a');
  const before = process.memoryUsage().heapUsed; // what others have left there
  const { content: result, replacements } = await replaceText(content, 'a', 'b', ALL);
  expect(replacements).toBe(content.length);
  expect(result.equals(Buffer.alloc(content.length, 'b'))).toBe(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
});

test('a call that is called off ends', async () => {
  const aborted = new AbortController();
  const content = Buffer.alloc(30_000_000, 'a');
  const call = replaceText(content, 'a', 'b', { ...ALL, signal: aborted.signal });
  setImmediate(() => aborted.abort(new Error('called off')));
  await expect(call).rejects.toThrow('called off');
});
