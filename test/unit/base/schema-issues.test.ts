import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { MAX_EDITS, MAX_WORD_CHARS, nearest } from '../../../src/base/nearest.js';
import { describeIssues, MAX_KEY_CHARS, sayIssue } from '../../../src/base/schema-issues.js';
import { VERSION } from '../../../src/base/version.js';
import { runs } from '../../helpers/runs.js';
import manifest from '../../../package.json' with { type: 'json' };

function say(schema: z.ZodMiniType, value: unknown, known: readonly string[] = []): string[] {
  const { error } = z.safeParse(schema, value);
  return describeIssues(error?.issues ?? [], value, () => known).map((issue) => sayIssue(issue, ''));
}

describe('an issue says what is wrong and where', () => {
  const argv = z.object({ argv: z.array(z.string()).check(z.minLength(1)) });
  const either = z.union([z.string(), z.object({ a: z.object({ b: z.int() }) })]);
  const tagged = z.discriminatedUnion('t', [
    z.object({ t: z.literal('a') }),
    z.object({ t: z.literal('b') }),
  ]);

  test.each<[z.ZodMiniType, unknown, string]>([
    [z.string(), 5, 'expected string, got number'],
    [z.string(), null, 'expected string, got null'],
    [z.string(), [], 'expected string, got array'],
    [z.string(), undefined, 'is required (string)'],
    [z.number(), Number.NaN, 'expected number, got NaN'],
    [z.number(), Number.POSITIVE_INFINITY, 'expected number, got Infinity'],
    [z.int(), 1.5, 'expected a whole number, got 1.5'],
    [z.int(), '1', 'expected number, got string'],
    [z.int().check(z.gte(1)), 0, 'must be at least 1'],
    [z.number().check(z.gt(1)), 1, 'must be more than 1'],
    [z.number().check(z.lt(1)), 1, 'must be less than 1'],
    [z.string().check(z.minLength(1)), '', 'must not be empty'],
    [z.string().check(z.minLength(2)), 'x', 'must be at least 2 characters long'],
    [z.string().check(z.length(2)), 'x', 'must be exactly 2 characters long'],
    [z.string().check(z.maxLength(2)), 'xxx', 'must be at most 2 characters long'],
    [z.string().check(z.regex(/^a$/)), 'b', 'expected text like /^a$/'],
    [z.string().check(z.startsWith('/')), 'b', 'expected text that starts with "/"'],
    [z.string().check(z.endsWith('/')), 'b', 'expected text that ends with "/"'],
    [z.string().check(z.includes('/')), 'b', 'expected text that holds "/"'],
    [z.enum(['a', 'b']), 'c', 'expected "a" or "b", got "c"'],
    [z.enum(['a']), 'x'.repeat(100), 'expected "a", got string'],
    [z.literal(5n), 6, 'expected 5n, got number'],
    [argv, { argv: [] }, 'argv: must not be empty'],
    [argv, { argv: ['ls', 5] }, 'argv[1]: expected string, got number'],
    [argv, {}, 'argv: is required (array)'],
    [argv, 'x', 'expected object, got string'],
    [z.union([z.string(), z.array(z.string())]), {}, 'expected string or array, got object'],
    [z.union([z.literal('a'), z.int()]), {}, 'expected "a" or number, got object'],
    [either, { a: { b: 'x' } }, 'a.b: expected number, got string'],
    [either, undefined, 'is required (string or object)'],
    [z.enum(['a', 'b']), undefined, 'is required ("a" or "b")'],
    [either, 5, 'expected string or object, got number'],
    [tagged, { t: 'c' }, 't: expected "a" or "b", got "c"'],
    [z.record(z.string(), z.string()), { 'a b': 1 }, '["a b"]: expected string, got number'],
    [z.array(z.array(z.string())), [['x'], [5]], '[1][0]: expected string, got number'],
    [z.number().check(z.multipleOf(5)), 3, 'must be a multiple of 5'],
    [z.string().check(z.refine((text) => text === 'x', 'must be x')), 'y', 'must be x'],
    [z.string().check(z.refine((text) => text === 'x')), 'y', 'is not valid'],
  ])('case %#', (schema, value, message) => {
    expect(say(schema, value)).toEqual([message]);
  });

  test('a prefix is put before the path', () => {
    expect(sayIssue({ path: 'argv', message: 'm' }, 'params')).toBe('params.argv: m');
    expect(sayIssue({ path: '[0]', message: 'm' }, 'params')).toBe('params[0]: m');
    expect(sayIssue({ path: '', message: 'm' }, 'params')).toBe('params: m');
    expect(sayIssue({ path: '', message: 'm' }, '')).toBe('m');
  });

  test('an unknown key is answered with the one that was meant, if there is one', () => {
    const strict = z.strictObject({ allow_shell: z.optional(z.boolean()) });
    expect(say(strict, { alow_shell: true }, ['allow_shell'])).toEqual([
      'alow_shell: unknown key; did you mean "allow_shell"?',
    ]);
    expect(say(strict, { something: true }, ['allow_shell'])).toEqual(['something: unknown key']);
    expect(say(strict, { x: 1, y: 2 })).toEqual(['x: unknown key', 'y: unknown key']);
  });
});

describe('a hostile value', () => {
  test('buys no long answer: issues and names are capped', () => {
    const strict = z.strictObject({});
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]));
    expect(say(strict, many)).toHaveLength(16);
    expect(
      say(
        z.array(z.string()),
        Array.from({ length: 1000 }, () => 5),
      ),
    ).toHaveLength(16);
    expect(say(strict, { ['k'.repeat(100_000)]: 1 })[0]?.length).toBeLessThan(100);
  });

  test('puts no line break, no terminal command and no false path into a message', () => {
    const strict = z.strictObject({});
    expect(say(strict, { 'a\nb': 1 })).toEqual(['["a\\nb"]: unknown key']);
    expect(say(strict, { '\u001b[2J': 1 })).toEqual(['["\\u001b[2J"]: unknown key']);
    expect(say(strict, { 'a.b': 1 })).toEqual(['["a.b"]: unknown key']);
  });

  test('of any kind is described without an exception', () => {
    const schema = z.strictObject({
      a: z.union([z.string(), z.array(z.union([z.int(), z.strictObject({ b: z.boolean() })]))]),
      c: z.optional(z.enum(['x', 'y'])),
    });
    const value = fc.oneof(
      fc.anything(),
      fc.record({ a: fc.anything(), c: fc.anything() }),
      fc.record({ a: fc.array(fc.oneof(fc.anything(), fc.record({ b: fc.anything() }))) }),
    );
    fc.assert(
      fc.property(value, (given) => {
        for (const line of say(schema, given, ['a', 'c'])) expect(line).not.toMatch(/[\n\r]|undefined$/);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('the nearest known word', () => {
  test.each([
    ['--stdo', '--stdio'],
    ['--STDIO', '--stdio'],
    ['--cofnig', '--config'],
    ['--zzzz', undefined],
    ['', undefined],
    ['x', undefined],
    ['--conf', '--config'],
  ])('to %s is %s', (word, expected) => {
    expect(nearest(word, ['--stdio', '--config', '--version'])).toBe(expected);
  });

  test('of none is none', () => {
    expect(nearest('x', [])).toBeUndefined();
  });

  test('is found at once, however long the words are', () => {
    const started = performance.now();
    for (let i = 0; i < 3; i++) nearest('x'.repeat(1_000_000), ['y'.repeat(1_000_000), 'z']);
    expect(performance.now() - started).toBeLessThan(60_000); // hours, if every letter were compared with every other
  });

  test('is the word itself when that is known, and one slip away is still near', () => {
    const word = fc.string({ unit: 'grapheme-ascii', minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(word, fc.nat(19), (text, at) => {
        expect(nearest(text, ['completely different words', text])?.toLowerCase()).toBe(text.toLowerCase());
        const slip = text.slice(0, at % text.length) + text.slice((at % text.length) + 1);
        expect(nearest(slip, [text])).toBe(text);
      }),
    );
  });
});

test('the version that executables report is that of the package', () => {
  expect(VERSION).toBe(manifest.version);
});

test('a word is taken for a slip up to so many edits, and compared up to so many characters', () => {
  const word = 'configuration';
  expect(nearest(word.slice(0, -MAX_EDITS), [word])).toBe(word);
  expect(nearest(word.slice(0, -MAX_EDITS - 1), [word])).toBeUndefined();
  const long = 'x'.repeat(MAX_WORD_CHARS);
  expect(nearest(`${long}abcdef`, [`${long}zyxwvu`])).toBe(`${long}zyxwvu`); // no different as far as is looked
  expect(nearest(`abcd${long}`, [`zyxw${long}`])).toBeUndefined();
});

test('a key in a path is shown up to so many characters', () => {
  const schema = z.record(z.string(), z.string());
  const key = 'k'.repeat(MAX_KEY_CHARS);
  expect(say(schema, { [key]: 1 })).toEqual([`${key}: expected string, got number`]);
  expect(say(schema, { [`${key}kk`]: 1 })).toEqual([`["${key}"]: expected string, got number`]);
});
