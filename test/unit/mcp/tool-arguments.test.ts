// What models write as arguments, and how it is read.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { MAX_IGNORED_NAMES, readArguments } from '../../../src/mcp/tool-arguments.js';
import { REX_TOOLS } from '../../../src/client/rex/tools/definitions.js';
import { runs } from '../../helpers/runs.js';

const definition = {
  name: 'example',
  description: '',
  input: z.object({
    path: z.string(),
    count: z.optional(z.int().check(z.gte(1))),
    deep: z.optional(z.boolean()),
    names: z.optional(z.array(z.string())),
  }),
  aliases: { file_path: 'path', limit: 'count' },
};

const read = (given: unknown) => readArguments(definition, given);
const argsOf = (given: unknown): unknown => {
  const found = read(given);
  return found.ok ? found.args : found.problems;
};

test('arguments as the schema has them are left as they are', () => {
  const args = { path: 'a', count: 2, deep: false, names: ['x'] };
  expect(read(args)).toEqual({ ok: true, args, ignored: [] });
});

test('names from other tools are understood, and the own name goes before them', () => {
  expect(argsOf({ file_path: 'a', limit: 3 })).toEqual({ path: 'a', count: 3 });
  expect(argsOf({ file_path: 'wrong', path: 'right' })).toEqual({ path: 'right' });
});

test('null is an argument that was left out', () => {
  expect(argsOf({ path: 'a', count: null, deep: null })).toEqual({ path: 'a' });
});

test('numbers, truths and lists in quotes are what they say', () => {
  expect(argsOf({ path: 7, count: ' 12 ', deep: 'True', names: 'one' })).toEqual({
    path: '7',
    count: 12,
    deep: true,
    names: ['one'],
  });
  expect(argsOf({ path: 'a', names: '["x","y"]' })).toEqual({ path: 'a', names: ['x', 'y'] });
});

test('text is taken as JSON, as some interfaces give it; none at all is an empty object', () => {
  expect(argsOf('{"path":"a"}')).toEqual({ path: 'a' });
  for (const nothing of [undefined, null, ''])
    expect(argsOf(nothing)).toEqual(['path: is required (string)']);
});

test('what is wrong is told in words that name the argument', () => {
  expect(argsOf({ path: 'a', count: 0 })).toEqual(['count: must be at least 1']);
  expect(argsOf({ path: {} })).toEqual(['path: expected string, got object']);
  expect(argsOf({ pth: 'a' })).toEqual(['path: is required (string)', 'there is no argument "pth"']);
  for (const bad of ['{', [], 5, true])
    expect(argsOf(bad)).toEqual(['the arguments must be one JSON object']);
});

test('what means nothing is told, and not without end', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x${i}`, i]));
  const found = read({ path: 'a', ...many });
  expect(found.ok && found.ignored).toHaveLength(MAX_IGNORED_NAMES + 1);
});

test('whatever is given, reading never throws, and what it gives reads as itself', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.anything(),
    fc.string(),
    fc.dictionary(
      fc.constantFrom(
        'path',
        'command',
        'query',
        'pattern',
        'file_path',
        '__proto__',
        'constructor',
        'timeout',
      ),
      fc.oneof(fc.string(), fc.integer().map(String), fc.boolean(), fc.constant(null), fc.array(fc.string())),
    ),
  );
  fc.assert(
    fc.property(anything, fc.constantFrom(...REX_TOOLS), (given, tool) => {
      const first = readArguments(tool, given);
      const again = first.ok ? readArguments(tool, first.args) : undefined;
      const asItself = first.ok ? { ok: true, args: first.args, ignored: [] } : undefined;
      expect([again, first.ok || first.problems.length > 0]).toEqual([asItself, true]);
    }),
    { numRuns: runs(5000) },
  );
});
