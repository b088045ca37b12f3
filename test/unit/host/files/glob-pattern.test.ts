import * as fc from 'fast-check';
import { compileNames } from '../../../../src/host/files/search-names.js';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import { InvalidPatternError } from '../../../../src/host/files/errors.js';
import { expandBraces, MAX_PATTERN_BRANCHES } from '../../../../src/host/files/glob-braces.js';
import {
  compilePattern,
  MAX_PATTERN_CHARS,
  MAX_PATTERN_WEIGHT,
} from '../../../../src/host/files/glob-pattern.js';
import { compileSegment } from '../../../../src/host/files/glob-segment.js';
import { runs } from '../../../helpers/runs.js';

/** Milliseconds on any machine; what tries every way takes years. Of the processor, which others may be using. */
const MOST_CPU_US = 10_000_000;

function matches(pattern: string, name: string, dot = false): boolean {
  const segment = compileSegment(pattern, { dot });
  if (segment.kind === 'match') return segment.test(name);
  return segment.kind === 'literal' && segment.name === name;
}

describe('one name', () => {
  test.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', '.ts', false],
    ['*.ts', 'a.tsx', false],
    ['a*', 'a', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'abbb', false],
    ['*ab*ab*', 'ab-ab', true],
    ['*ab*ab*', 'aab', false],
    ['a*a', 'a', false],
    ['?', 'é', true],
    ['?', '😀', true],
    ['??', '😀', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]a]', ']', true],
    ['[a-]', '-', true],
    ['[\\]]', ']', true],
    ['[[:digit:]][[:upper:]]', '1A', true],
    ['[[:digit:]]', 'a', false],
    ['[[:digit:]x]', 'x', true],
    ['[', '[', true],
    ['[a', '[a', true],
    ['*[', 'x[', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['a\\', 'a\\', true],
    ['.*', '.git', true],
    ['?git', '.git', false],
    ['[.]git', '.git', false],
    ['a**b', 'a--b', true],
    ['@(a|b)', '@(a|b)', true],
    ['[а-я]*', 'ёж', false],
    ['[а-я]*', 'жук', true],
  ])('%s against %s: %s', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  test('a dot at the beginning is matched on demand', () => {
    expect(['*', '?git', '[.]git'].map((pattern) => matches(pattern, '.git', true))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('agrees with picomatch on names without dots, about which that has ideas of its own', () => {
    const piece = fc.constantFrom('*', '?', 'a', 'b', '-', '[ab]', '[^a]', '[a-c]', '_');
    const pattern = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(''));
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-', '_'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pattern, name, (glob, text) => {
        fc.pre(glob !== '**');
        expect(matches(glob, text), `${glob} ${text}`).toBe(picomatch.isMatch(text, glob, { dot: true }));
      }),
      { numRuns: runs(10_000) },
    );
  });

  test('takes no time to speak of, however many stars', () => {
    const start = process.cpuUsage();
    const pattern = `${'*a'.repeat(60)}*b`;
    for (let i = 0; i < 100; i++) expect(matches(pattern, 'a'.repeat(255))).toBe(false);
    expect(process.cpuUsage(start).user).toBeLessThan(MOST_CPU_US);
  });
});

describe('braces', () => {
  test.each([
    ['a', ['a']],
    ['{a,b}', ['a', 'b']],
    ['x{a,b{1,2}}y', ['xay', 'xb1y', 'xb2y']],
    ['{a,b}{c,d}', ['ac', 'ad', 'bc', 'bd']],
    ['{a/b,c}/*', ['a/b/*', 'c/*']],
    ['{a,}', ['a', '']],
    ['{}', ['{}']],
    ['{a}', ['{a}']],
    ['{a', ['{a']],
    ['a}', ['a}']],
    ['{{a,b}', ['{a', '{b']],
    ['{a,b}}', ['a}', 'b}']],
    ['{x{a,b}}', ['{xa}', '{xb}']],
    ['\\{a,b}', ['\\{a,b}']],
    ['{a\\,b,c}', ['a\\,b', 'c']],
    ['{1..3}', ['1', '2', '3']],
    ['{3..1}', ['3', '2', '1']],
    ['{08..10}', ['08', '09', '10']],
    ['{-1..1}', ['-1', '0', '1']],
    ['{a..c}', ['a', 'b', 'c']],
    ['{a..}', ['{a..}']],
    ['{1..1}', ['1']],
  ])('%s', (pattern, expected) => {
    expect(expandBraces(pattern)).toEqual(expected);
  });

  test('as many patterns as the cap are allowed, more are refused before they are made', () => {
    expect(expandBraces(`{1..${MAX_PATTERN_BRANCHES}}`)).toHaveLength(MAX_PATTERN_BRANCHES);
    expect(() => expandBraces(`{1..${MAX_PATTERN_BRANCHES + 1}}`)).toThrow(InvalidPatternError);
    expect(() => expandBraces('{a,b}'.repeat(10))).toThrow(InvalidPatternError);
    expect(() => expandBraces('{1..999999999}')).toThrow(InvalidPatternError);
    expect(() => expandBraces('{a,b}'.repeat(800))).toThrow(InvalidPatternError);
  });

  test('any text is read in little time and never by accident', () => {
    const text = fc.string({ unit: fc.constantFrom('{', '}', ',', 'a', '\\', '.'), maxLength: 60 });
    fc.assert(
      fc.property(text, (pattern) => {
        try {
          expect(expandBraces(pattern).length).toBeGreaterThan(0);
        } catch (error) {
          if (!(error instanceof InvalidPatternError)) throw error;
        }
      }),
      { numRuns: runs(2000) },
    );
    const start = process.cpuUsage();
    for (const hard of ['{'.repeat(4000), '{a'.repeat(1300), '},'.repeat(2000), '{,'.repeat(2000)])
      expandBraces(hard);
    expect(process.cpuUsage(start).user).toBeLessThan(MOST_CPU_US);
  });
});

test(`patterns weigh no more than ${MAX_PATTERN_WEIGHT} together, those with classes more than others`, () => {
  const compile = (pattern: string, allowance?: { weight: number }): unknown =>
    compilePattern(pattern, '/base', { dot: false }, allowance);
  compile(`folder/file-{1..1000}*.txt`);
  compile(`*${'[a]'.repeat(100)}{b,c}{b,c}{b,c}`);
  expect(() => compile(`*${'[a]'.repeat(100)}${'{b,c}'.repeat(6)}`)).toThrow(InvalidPatternError);
  expect(() => compile(`*${'a'.repeat(300)}${'{b,c}'.repeat(8)}`)).toThrow(InvalidPatternError);
  const include = Array.from({ length: 50 }, () => `*${'[a]'.repeat(60)}`);
  expect(() => compileNames('/base', include.slice(0, 40))).not.toThrow();
  expect(() => compileNames('/base', include.slice(0, 40), include)).toThrow(InvalidPatternError);
});

describe('a whole pattern', () => {
  const starts = (pattern: string): string[] =>
    compilePattern(pattern, '/base', { dot: false }).map(({ start }) => start);

  test('begins at the base, or where an absolute or climbing pattern says', () => {
    expect(starts('a/b/*.ts')).toEqual(['/base']);
    expect(starts('{a,b}/**')).toEqual(['/base']);
    expect(starts('/x/y/*.ts')).toEqual(['/x/y']);
    expect(starts('/x/y')).toEqual(['/x']);
    expect(starts('../other/*')).toEqual(['/other']);
    expect(starts('a/../b/*')).toEqual(['/base']);
    expect(starts('.')).toEqual([]);
    expect(starts('/')).toEqual([]);
  });

  test.each([
    ['empty', ''],
    ['too long', 'a'.repeat(MAX_PATTERN_CHARS + 1)],
    ['a NUL byte', 'a\0b'],
    ['`..` after a wildcard', '*/../x'],
    ['`..` after a wildcard, escaped', '*/\\.\\./x'],
    ['not Unicode', '\ud800'],
    ['a slash in disguise', '*/\udc2e\udc2e\udc2fetc'],
  ])('%s is refused', (_, pattern) => {
    expect(() => compilePattern(pattern, '/base', { dot: false })).toThrow(InvalidPatternError);
  });

  test('as many characters as the cap are allowed', () => {
    expect(starts('a'.repeat(MAX_PATTERN_CHARS))).toEqual(['/base']);
  });
});
