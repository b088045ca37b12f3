// Plain shell texts: what is read of them is what a real shell runs, and what is not plain is not read at all.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readPlainCommands } from '../../../src/guard/command-policy-plain-text.js';
import { MAX_COMMANDS, MAX_TEXT_CHARS } from '../../../src/guard/command-policy-shell-text.js';
import { CommandPolicy } from '../../../src/guard/command-policy.js';
import { runs as times } from '../../helpers/runs.js';
import { removeFolder } from '../../helpers/remove-folder.js';

test.each([
  ['ls', [['ls']]],
  [
    'ls -l && git status',
    [
      ['ls', '-l'],
      ['git', 'status'],
    ],
  ],
  ['a \'b c\' "d e"f || g;h\ni | j', [['a', 'b c', 'd ef'], ['g'], ['h'], ['i'], ['j']]],
  ["grep '$x' *.ts", [['grep', '$x', '*.ts']]],
  ['', []],
  [" ; a ''", [['a', '']]],
])('%j is plain', (text, commands) => {
  expect(readPlainCommands(text)).toEqual(commands);
});

test.each([
  'a $x', 'a `b`', 'a $(b)', 'a > f', 'a < f', 'a &', 'a & b', '(a)', '{ a; }', 'a #b', 'A=1 b', 'a \\; b', '"a $x"', '"a \\" b"',
  "a 'b", 'a "b', '! a', '~/a', '*a b', "''", 'f() { a; }', 'a <<E', 'a 2>&1', 'a^b',
])('%j is not', (text) => {
  expect(readPlainCommands(text)).toBeUndefined();
}); // biome-ignore format: a list

test('texts have a length and a number of commands at most', () => {
  expect(readPlainCommands('a'.repeat(MAX_TEXT_CHARS))).toHaveLength(1);
  expect(readPlainCommands('a'.repeat(MAX_TEXT_CHARS + 1))).toBeUndefined();
  expect(readPlainCommands('a;'.repeat(MAX_COMMANDS))).toHaveLength(MAX_COMMANDS);
  expect(readPlainCommands('a;'.repeat(MAX_COMMANDS + 1))).toBeUndefined();
});

test('a list of allowed commands is held against each command of a plain text, and a shell is needed for no other', () => {
  const policy = new CommandPolicy({ allow: ['git **', 'ls **'] });
  const allows = (command: string): boolean => policy.decide({ shell: true, command }).allowed;
  expect(['ls', 'ls -l && git status | git log', "git commit -m 'a; make'"].map(allows)).toEqual([
    true,
    true,
    true,
  ]);
  expect(
    [
      'make',
      'ls && make',
      'ls; sh -c ls',
      'ls $(make)',
      'ls > make',
      'git log & make',
      'A=1 ls',
      'eval ls',
      '. ./x',
    ].map(allows),
  ).toEqual(Array.from({ length: 9 }, () => false));
  expect(
    new CommandPolicy({ allow: ['ls **'], deny: ['ls -l'] }).decide({ shell: true, command: 'ls -l' })
      .allowed,
  ).toBe(false);
  expect(
    new CommandPolicy({ allow: ['ls **'], allowShell: false }).decide({ shell: true, command: 'ls' }).allowed,
  ).toBe(false);
});

const folder = mkdtempSync(join(tmpdir(), 'hawser-plain-'));
afterAll(() => removeFolder(folder));
for (const name of ['a', 'b', 'cc']) {
  const program = join(folder, name);
  writeFileSync(
    program,
    `#!/bin/sh\n{ printf '%s\\0' "${name}" "$@"; printf '\\n'; } >> "$LOG"\ncat > /dev/null < /dev/null\n`,
  );
  chmodSync(program, 0o755);
}

/** What a real shell runs, each with its words; those that a condition leaves out are not run. */
function runs(text: string): string[][] {
  const log = join(folder, 'log');
  writeFileSync(log, '');
  try {
    execFileSync('/bin/sh', ['-c', text], { env: { PATH: folder, LOG: log }, stdio: 'ignore', cwd: folder });
  } catch {
    // A command that is not there, or a text that is none: what it ran before counts.
  }
  return readFileSync(log, 'utf8')
    .split('\0\n')
    .slice(0, -1)
    .map((line) => line.split('\0'));
}

test('whatever is taken for plain, a real shell runs nothing but what was read', () => {
  const piece = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        'a',
        'b',
        'cc',
        ' ',
        ' ',
        "'x y'",
        '"z"',
        '-l',
        ';',
        ' && ',
        ' || ',
        '|',
        '\n',
      ),
    },
    fc.constantFrom(
      '$',
      '`',
      '\\',
      '<',
      '>',
      '&',
      '(',
      ')',
      '#',
      '!',
      '~',
      "'",
      '"',
      '*',
      '=',
      '{',
      '}',
      '\t',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('');
      const read = readPlainCommands(text);
      if (read === undefined) return;
      const known = read.map((words) => JSON.stringify(words));
      for (const ran of runs(text)) {
        if (ran.some((word) => word.includes('*'))) continue;
        expect(known, text).toContain(JSON.stringify(ran));
      }
    }),
    { numRuns: times(1500) },
  );
});
