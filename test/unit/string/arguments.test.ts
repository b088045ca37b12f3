// Words, options and operands of a command.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseArguments, splitWords, UnterminatedQuoteError } from '../../../src/string/arguments.js';

const words = (text: string): string[] => splitWords(text).map((word) => word.text);

describe('words', () => {
  test.each([
    ['', []],
    ['  a  b\tc ', ['a', 'b', 'c']],
    ['a\nb\r\nc', ['a', 'b', 'c']],
    [`"a b" 'c d'`, ['a b', 'c d']],
    [`a"b c"d'e f'`, ['ab cde f']],
    [`"" ''`, ['', '']],
    [`"it's" 'say "x"'`, ["it's", 'say "x"']],
    ['"two\nlines"', ['two\nlines']],
    [String.raw`"say \"hi\""`, ['say "hi"']],
    [String.raw`'\' \n "\n"`, ['\\', '\\n', '\\n']],
  ])('%j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  test.each([`don't stop`, `"open`, `a "b' c`, String.raw`"\"`])('an open quote is told: %j', (text) => {
    expect(() => splitWords(text)).toThrow(UnterminatedQuoteError);
  });
});

describe('options', () => {
  test('values by `=`, by the next word, or none', () => {
    const { options, operands } = parseArguments('x --a=1 --b 2 --c --d= y -n 5 -v', {
      short: { n: 'count' },
    });
    expect(Object.fromEntries(options)).toEqual({ a: '1', b: '2', c: true, d: '', count: '5', v: true });
    expect(operands).toEqual(['x', 'y']);
  });

  test('a flag does not swallow the next word', () => {
    const { options, operands } = parseArguments('--all x --link y', { flags: ['all', 'link'] });
    expect(Object.fromEntries(options)).toEqual({ all: true, link: true });
    expect(operands).toEqual(['x', 'y']);
  });

  test('a negative number is a value; so is what is quoted, and what follows `--`', () => {
    expect(Object.fromEntries(parseArguments('--n -5 --text "-h" --more "--all"').options)).toEqual({
      n: '-5',
      text: '-h',
      more: '--all',
    });
    expect(parseArguments('-- -h --x y')).toEqual({
      help: false,
      options: new Map(),
      operands: ['-h', '--x', 'y'],
    });
  });

  test('help is asked for anywhere', () => {
    for (const text of ['--help', '-h', 'x --a 1 -h', '--help x'])
      expect(parseArguments(text).help).toBe(true);
    expect(parseArguments('x "--help"').help).toBe(false);
  });
});

describe('whatever the words', () => {
  const word = fc.string({ unit: 'binary', maxLength: 8 });

  test('a list that is quoted comes back as it was', () => {
    const quote = (text: string): string =>
      text === ''
        ? "''"
        : text.replaceAll(/'+|[^']+/gu, (run) => (run.startsWith("'") ? `"${run}"` : `'${run}'`));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), fc.constantFrom(' ', '\t', '\n', '  '), (list, gap) => {
        expect(words(list.map(quote).join(gap))).toEqual(list);
        expect(parseArguments(list.map(quote).join(gap))).toEqual({
          help: false,
          options: new Map(),
          operands: list,
        });
      }),
      { numRuns: 3000 },
    );
  });

  test('text is split or refused, and never hangs or throws anything else', () => {
    const messy = fc
      .array(fc.oneof(fc.constantFrom('"', "'", '\\', ' ', '\n', '--', '-', '=', 'a'), word))
      .map((all) => all.join(''));
    fc.assert(
      fc.property(messy, (text) => {
        const words = attempt(text);
        expect(words instanceof UnterminatedQuoteError || words <= text.length).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });
});

function attempt(text: string): number | UnterminatedQuoteError {
  try {
    const { options, operands } = parseArguments(text);
    return options.size + operands.length;
  } catch (thrown) {
    return thrown as UnterminatedQuoteError;
  }
}
