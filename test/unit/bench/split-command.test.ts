import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitCommand } from '../../../bench/harness/split-command.js';

describe('splitCommand', () => {
  test.each<[string, string[]]>([
    ['rexd --stdio', ['rexd', '--stdio']],
    ['  a \t b\nc ', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a''b c"" '' ""`, ['ab', 'c', '', '']],
    [`--x="y z"'w'`, ['--x=y zw']],
    [String.raw`a\ b \"c\'`, ['a b', `"c'`]],
    [String.raw`"a\"b" "c\\d" "\e"`, ['a"b', String.raw`c\d`, String.raw`\e`]],
    [String.raw`'a\b'`, [String.raw`a\b`]],
    ['a $HOME ; | & *', ['a', '$HOME', ';', '|', '&', '*']],
  ])('%j', (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  test.each([`a 'b`, 'a "b', String.raw`a "b\"`, 'a \\'])('refuses what is left open: %j', (text) => {
    expect(() => splitCommand(text)).toThrow('open quote or backslash');
  });

  test.each(['', '   '])('refuses an empty command: %j', (text) => {
    expect(() => splitCommand(text)).toThrow('empty');
  });

  test('gives back any words that were quoted', () => {
    const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (words) => {
        expect(splitCommand(words.map(quote).join(' '))).toEqual(words);
      }),
    );
  });

  test('agrees with sh on words, quotes and backslashes', () => {
    const piece = fc.constantFrom(
      'a',
      'bc',
      ' ',
      '  ',
      "'d e'",
      '"f g"',
      String.raw`\ `,
      String.raw`\"`,
      String.raw`"\\x"`,
      "''",
      '-=',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `x${pieces.join('')}`;
        const said = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${text}`], { encoding: 'utf8' });
        expect(splitCommand(text)).toEqual(said.split('\0').slice(0, -1));
      }),
      { numRuns: 100 },
    );
  });
});
