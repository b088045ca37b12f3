import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FileHashes, MAX_KNOWN_HASHES } from '../../../../src/string/packages/file-hashes.js';

const FILES = ['package.json', 'README.md', 'LICENSE'].map(
  (name) => new URL(`../../../../${name}`, import.meta.url).pathname,
);

test('the hash of a file, also when it is asked for again; no more are remembered than agreed', async () => {
  const hashes = new FileHashes(2);
  for (const file of [...FILES, ...FILES]) {
    expect(await hashes.of(file)).toBe(createHash('sha256').update(readFileSync(file)).digest('hex'));
    expect(hashes.size).toBeLessThanOrEqual(2);
  }
  expect(MAX_KNOWN_HASHES).toBeGreaterThan(500);
});

test('what is no file has none', async () => {
  const hashes = new FileHashes();
  for (const path of ['/dev/null', '/nowhere', '/']) expect(await hashes.of(path)).toBe('');
});
