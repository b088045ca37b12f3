import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { helpText, parseFlags, type Usage, UsageError } from '../../../src/cli/flags.js';
import { runs } from '../../helpers/runs.js';

const USAGE: Usage = {
  program: 'tool',
  summary: 'does things',
  synopsis: 'tool --serve [--root DIR]...',
  flags: {
    serve: { summary: 'serve somebody' },
    root: { value: 'DIR', repeatable: true, summary: 'allow this folder' },
    config: { value: 'FILE', short: 'f', summary: 'read this file' },
    'log-level': { value: 'LEVEL', summary: 'how much to say' },
    help: { short: 'h', summary: 'print this text' },
  },
  examples: [
    ['tool --serve', 'serve'],
    ['tool --serve --root .', 'serve this folder'],
  ],
  notes: ['Exit codes: 0 fine, 2 wrong usage.'],
};

const parse = (...args: string[]): ReturnType<typeof parseFlags> => parseFlags(USAGE, args);
/** What is wrong with these arguments, if anything. */
function complaint(...args: string[]): string {
  try {
    parse(...args);
  } catch (thrown) {
    if (thrown instanceof UsageError) return thrown.message;
    throw thrown;
  }
  return 'none';
}

describe('flags', () => {
  test('are there or not, with the value that was given', () => {
    const flags = parse('--serve', '--config', 'a.toml', '--log-level=debug');
    expect([flags.has('serve'), flags.has('help'), flags.has('config')]).toEqual([true, false, true]);
    expect([flags.value('config'), flags.value('log-level'), flags.value('root')]).toEqual([
      'a.toml',
      'debug',
      undefined,
    ]);
    expect(flags.values('root')).toEqual([]);
    expect(parse().has('serve')).toBe(false);
  });

  test('that are repeatable keep all their values in order', () => {
    const flags = parse('--root', 'b', '--root=a', '-root', 'c', '--root', 'a');
    expect(flags.values('root')).toEqual(['b', 'a', 'c', 'a']);
    expect(flags.value('root')).toBe('a');
  });

  test.each([
    [['--config', 'a', '--config', 'b'], '--config'],
    [['--config', 'a', '-f', 'a'], '-f'],
    [['--serve', '-serve'], '--serve'],
    [['-hh'], '-h'],
  ])('that are not repeatable may be given once: %j', (args, named) => {
    expect(complaint(...args)).toBe(`${named} may be given only once`);
  });

  test('have short names, alone, together and with a value', () => {
    expect(parse('-h').has('help')).toBe(true);
    expect(parse('-f', 'x').value('config')).toBe('x');
    const flags = parse('-hfx');
    expect([flags.has('help'), flags.value('config')]).toEqual([true, 'x']);
  });

  test('may have one dash before a long name, as other programs of this kind have it', () => {
    expect(parse('-config', 'a').value('config')).toBe('a');
    expect(parse('-config=a').value('config')).toBe('a');
    expect(parse('-log-level', 'info').value('log-level')).toBe('info');
    expect(parse('-serve').has('serve')).toBe(true);
    expect(parse('-config', '-').value('config')).toBe('-');
  });

  test.each([
    [['--confg', 'a'], 'unknown option --confg; did you mean --config?'],
    [['--nerve'], 'unknown option --nerve; did you mean --serve?'],
    [['--share'], 'unknown option --share'],
    [['--SERVE'], 'unknown option --SERVE; did you mean --serve?'],
    [['--loglevel=info'], 'unknown option --loglevel; did you mean --log-level?'],
    [['--quite-another-thing'], 'unknown option --quite-another-thing'],
    [['-x'], 'unknown option -x'],
  ])('that are unknown are refused, with the nearest known one: %j', (args, expected) => {
    expect(complaint(...args)).toBe(expected);
  });

  test.each(['constructor', 'toString', '__proto__', 'valueOf'])(
    'are those of the table, and %s is none of them',
    (name) => {
      for (const arg of [`--${name}`, `--${name}=x`]) {
        expect(complaint(arg)).toMatch(new RegExp(`^unknown option --${name}(;|$)`));
      }
      expect(complaint(`-${name}`)).toMatch(/^unknown option -[^-]/);
      expect(parse('--serve').has(name)).toBe(false);
    },
  );

  test.each([
    [['--config'], '--config'],
    [['--config='], '--config'],
    [['--config', ''], '--config'],
    [['--config', '--serve'], '--config'],
    [['-config', '-serve'], '--config'],
    [['-f'], '-f'],
  ])('that need a value say so when there is none: %j', (args, named) => {
    expect(complaint(...args)).toBe(`${named} needs a value: ${named} FILE`);
  });

  test('take a value that begins with dashes when it is joined to the name', () => {
    expect(parse('--config=--odd').value('config')).toBe('--odd');
  });

  test('that take no value refuse one, and so does the command a word too many', () => {
    expect(complaint('--serve=yes')).toBe('--serve takes no value');
    expect(complaint('--serve', 'yes')).toBe('unexpected argument "yes"');
    expect(complaint('--', '--serve')).toBe('unexpected argument "--serve"');
  });

  test('whatever the arguments: flags of the table, or a usage error', () => {
    const word = fc.oneof(
      fc.constantFrom('--serve', '--root', '-f', '-config', '--', '-', '--root=', '--__proto__', '-hx'),
      fc.string({ maxLength: 12 }),
      fc.string({ maxLength: 12 }).map((text) => `--${text}`),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (args) => {
        const isTaken = complaint(...args) === 'none'; // any other error is thrown on
        const flags = parse(...(isTaken ? args : []));
        const once = Object.keys(USAGE.flags).filter((name) => USAGE.flags[name]?.repeatable !== true);
        expect(once.filter((name) => flags.values(name).length > 1)).toEqual([]);
      }),
      { numRuns: runs(2000) },
    );
  });
});

test('the help names every flag with its value, the examples and the notes', () => {
  expect(helpText(USAGE)).toBe(
    [
      'tool: does things',
      '',
      'Usage:',
      '  tool --serve [--root DIR]...',
      '',
      'Options:',
      '      --serve            serve somebody',
      '      --root DIR         allow this folder (repeatable)',
      '  -f, --config FILE      read this file',
      '      --log-level LEVEL  how much to say',
      '  -h, --help             print this text',
      '',
      'Examples:',
      '  # serve',
      '  tool --serve',
      '  # serve this folder',
      '  tool --serve --root .',
      '',
      'Exit codes: 0 fine, 2 wrong usage.',
    ].join('\n'),
  );
});
