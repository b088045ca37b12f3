import fc from 'fast-check';
import { join, resolve, sep } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import {
  isFileName,
  isName,
  isRepo,
  MAX_FILE_DEPTH,
  MAX_FILE_NAME_CHARS,
  MAX_NAME_CHARS,
  MAX_PATH_CHARS,
  MAX_REPO_PART_CHARS,
  pathSchema,
} from '../../../src/hugind/names.js';
import { runs } from '../../helpers/runs.js';

const NASTY = fc.string({
  unit: fc.constantFrom('.', '/', '\\', 'a', '\0', '~', ' ', '-', '\n', 'é', '..', '\ud800'),
});

test('whatever passes for a name stays below the folder it is put in', () => {
  fc.assert(
    fc.property(NASTY, (text) => {
      const passes = [isName, isRepo, isFileName].some((rule) => rule(text));
      const stays =
        resolve('/store', text).startsWith(`/store${sep}`) &&
        resolve('/store', text) === join('/store', text);
      expect(!passes || stays).toBe(true);
    }),
    { numRuns: runs(10_000) },
  );
});

test('names have an end', () => {
  expect(isName('a'.repeat(MAX_NAME_CHARS))).toBe(true);
  expect(isName('a'.repeat(MAX_NAME_CHARS + 1))).toBe(false);
  expect(isRepo(`${'a'.repeat(MAX_REPO_PART_CHARS)}/b`)).toBe(true);
  expect(isRepo(`${'a'.repeat(MAX_REPO_PART_CHARS + 1)}/b`)).toBe(false);
  expect(isFileName(`${'a/'.repeat(MAX_FILE_DEPTH)}b.gguf`)).toBe(true);
  expect(isFileName(`${'a/'.repeat(MAX_FILE_DEPTH + 1)}b.gguf`)).toBe(false);
  const long = `${'a'.repeat(200)}/`.repeat(MAX_FILE_DEPTH);
  expect(isFileName(long.slice(0, MAX_FILE_NAME_CHARS - 1) + 'b')).toBe(true);
  expect(isFileName(long.slice(0, MAX_FILE_NAME_CHARS) + 'b')).toBe(false);
  expect(z.safeParse(pathSchema, 'a'.repeat(MAX_PATH_CHARS)).success).toBe(true);
  expect(z.safeParse(pathSchema, 'a'.repeat(MAX_PATH_CHARS + 1)).success).toBe(false);
});

test('ordinary names pass', () => {
  for (const name of ['tiny', 'Qwen2.5-7B_q4', '_x', '-dash']) expect(isName(name), name).toBe(true);
  for (const repo of ['user/repo', 'TheBloke/Llama-2-7B.GGUF']) expect(isRepo(repo), repo).toBe(true);
  for (const file of ['a.gguf', 'Q4/b 1.gguf', 'ü.gguf']) expect(isFileName(file), file).toBe(true);
});
