import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GgufError } from '../../../../src/hugind/gguf/gguf-error.js';
import { kvBytesPerToken, MAX_LAYERS, modelFacts } from '../../../../src/hugind/gguf/model-facts.js';
import {
  MAX_GGUF_ARRAY,
  MAX_GGUF_KEYS,
  MAX_GGUF_NAME_BYTES,
  MAX_GGUF_TENSORS,
  MAX_GGUF_TEXT_BYTES,
  MAX_HEADER_BYTES,
  MAX_KEPT_ARRAY,
  readGgufHeader,
} from '../../../../src/hugind/gguf/read-header.js';
import { type GgufEntry, makeGguf, text, TINY_LLAMA, u32, u64 } from '../../../helpers/gguf.js';
import { runs } from '../../../helpers/runs.js';
import { makeScratch } from '../../../helpers/scratch.js';

function write(bytes: Uint8Array): string {
  const path = join(makeScratch(), 'm.gguf');
  writeFileSync(path, bytes);
  return path;
}

const header = (tensors: number | bigint, keys: number | bigint, ...rest: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors), u64(keys), ...rest, Buffer.alloc(64)]);

test('a header is read, and the cache of a token computed from it', async () => {
  const read = await readGgufHeader(write(makeGguf(TINY_LLAMA)));
  const facts = modelFacts(read);
  expect(facts).toEqual({
    architecture: 'llama',
    trainedContext: 4096,
    layers: 2,
    cachedKeys: 64,
    cachedValues: 64,
  });
  expect(kvBytesPerToken(facts)).toBe(256);
  expect(kvBytesPerToken(facts, 'q8_0', 'q8_0')).toBe(136);
});

test('heads may differ by layer, and keys from values', async () => {
  const entries: GgufEntry[] = [
    ...TINY_LLAMA.filter(([key]) => !key.endsWith('head_count_kv')),
    ['llama.attention.head_count_kv', 'u32s', [4, 0]],
    ['llama.attention.key_length', 'u32', 8],
    ['llama.attention.value_length', 'u32', 4],
  ];
  const facts = modelFacts(await readGgufHeader(write(makeGguf(entries))));
  expect([facts.cachedKeys, facts.cachedValues]).toEqual([32, 16]);
});

test.each([
  ['tensors', header(MAX_GGUF_TENSORS + 1, 0)],
  ['tensors beyond counting', header(2n ** 63n, 0)],
  ['keys', header(0, MAX_GGUF_KEYS + 1)],
  ['a long key', header(0, 1, u64(MAX_GGUF_NAME_BYTES + 1))],
  ['a long text', header(0, 1, text('k'), u32(8), u64(MAX_GGUF_TEXT_BYTES + 1))],
  ['a long array', header(0, 1, text('k'), u32(9), u32(4), u64(MAX_GGUF_ARRAY + 1))],
  ['an array of arrays', header(0, 1, text('k'), u32(9), u32(9), u64(1))],
  ['a type that is none', header(0, 1, text('k'), u32(99))],
  ['texts that claim more than there is', header(0, 1, text('k'), u32(9), u32(8), u64(2), u64(2n ** 40n))],
  ['a version that is none', Buffer.concat([Buffer.from('GGUF'), u32(9), Buffer.alloc(64)])],
  ['nothing', Buffer.alloc(0)],
  ['other bytes', Buffer.alloc(100, 7)],
])('a header with %s is refused', async (_, bytes) => {
  await expect(readGgufHeader(write(bytes))).rejects.toThrow(GgufError);
});

test('a file that was cut off is refused wherever it was cut', async () => {
  const whole = makeGguf(TINY_LLAMA);
  const path = join(makeScratch(), 'm.gguf');
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
      writeFileSync(path, whole.subarray(0, length));
      await expect(readGgufHeader(path)).rejects.toThrow(GgufError);
    }),
    { numRuns: runs(500, 50) },
  );
});

test('whatever the bytes are, the reading ends with a header or a refusal', async () => {
  const path = join(makeScratch(), 'm.gguf');
  const whole = makeGguf(TINY_LLAMA);
  const change = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of changes) bytes[at] = value;
      writeFileSync(path, bytes);
      const outcome = await readGgufHeader(path)
        .then(modelFacts)
        .catch((thrown: unknown) => thrown);
      expect(outcome instanceof GgufError || !(outcome instanceof Error)).toBe(true);
    }),
    { numRuns: runs(1000, 100) },
  );
});

test('what is long is passed over, and what is absurd is refused', async () => {
  const long = Array.from({ length: MAX_KEPT_ARRAY + 1 }, (_, i) => i);
  const { metadata } = await readGgufHeader(write(makeGguf([...TINY_LLAMA, ['x', 'u32s', long]])));
  expect(metadata.has('x')).toBe(false);
  expect(MAX_HEADER_BYTES).toBeGreaterThan(MAX_GGUF_TEXT_BYTES);
  const layers = TINY_LLAMA.map(
    (entry): GgufEntry =>
      entry[0] === 'llama.block_count' ? ['llama.block_count', 'u32', MAX_LAYERS + 1] : entry,
  );
  const read = await readGgufHeader(write(makeGguf(layers)));
  expect(() => modelFacts(read)).toThrow('layers');
});
