// The reading is held against the programs themselves: what they run is what must be seen.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Command,
  MAX_COMMANDS_READ,
  MAX_WRAPPERS,
  readCommand,
} from '../../../src/guard/command-policy-reading.js';
import {
  MAX_COMMANDS,
  MAX_NESTING,
  MAX_TEXT_CHARS,
  readSimpleCommands,
} from '../../../src/guard/command-policy-shell-text.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'reading-'));
  // Says each of its arguments in brackets, into a file: some wrappers close or take over standard output.
  writeFileSync(
    join(dir, 'probe'),
    `#!/bin/sh\nfor a in probe "$@"; do printf '[%s]' "$a" >> '${dir}/ran'; done\n`,
  );
  chmodSync(join(dir, 'probe'), 0o755);
});
afterAll(() => removeFolder(dir));

function runReally(argv: readonly string[], input = ''): string {
  writeFileSync(join(dir, 'ran'), '');
  const [program = '', ...args] = argv;
  const env = { ...process.env, PATH: `${dir}:${process.env['PATH'] ?? ''}` };
  spawnSync(program, args, { env, input, cwd: dir, timeout: 60_000 });
  return readFileSync(join(dir, 'ran'), 'utf8');
}

const every = (command: Command): Command[] => [command, ...command.inner.flatMap(every)];

/** The probe as it was seen, in the form in which it speaks of itself. */
function seen(argv: readonly string[]): string {
  return every(readCommand(argv))
    .filter((command) => command.base === 'probe')
    .map((command) => command.argv.map((word) => `[${word}]`).join(''))
    .join('');
}

describe('wrappers run what is seen in them', () => {
  test.each([
    'env probe a',
    'env A=1 B= probe a',
    'env -i PATH=/usr/bin:/bin:. probe a',
    'env -u HOME -- probe a',
    'env -uHOME A=1 probe a',
    'env --unset HOME probe a',
    'env --unse=HOME probe a',
    'env --chdir=. probe a',
    'env -C . probe -c a',
    'env -v probe a',
    'nice probe a',
    'nice -n 1 probe a',
    'nice -n1 probe a',
    'nice -5 probe a',
    'nice --adjustment=1 probe a',
    'nohup probe a',
    'timeout 60 probe a',
    'timeout -s KILL 60 probe a',
    'timeout -k 1 --foreground 60 probe a',
    'timeout --kill-after 1 --signal=TERM 60s probe a',
    'setsid -w probe a',
    'setsid --wait probe a',
    'stdbuf -oL -e 0 probe a',
    'stdbuf --output=L probe a',
    'ionice -c 3 probe a',
    'ionice -c3 -t probe a',
    'taskset -c 0 probe a',
    'chrt -o 0 probe a',
    'flock lock probe a',
    'flock -n -E 3 lock probe a',
    'env nice timeout 60 nohup probe a',
    'sh -c probe',
    'bash -c probe',
    'sh -ec probe',
    'bash -o pipefail -c probe',
    'bash --norc -c probe x',
    'bash +x -c probe',
    'find . -maxdepth 0 -exec probe a ;',
    'find . -maxdepth 0 -exec probe a -exec probe + b ;',
    'find . -maxdepth 0 -exec probe a ; -exec probe b ;',
    'find . -maxdepth 0 -exec true {} + -exec probe a + ;',
  ])('%s', (line) => {
    const argv = line.split(' ');
    const ran = runReally(argv);
    expect(ran).toMatch(/^\[probe\]/);
    expect(seen(argv)).toBe(ran);
  });

  test('flock with a text', () => {
    for (const argv of [
      ['flock', 'lock', '-c', 'probe a'],
      ['flock', '-w', '1', 'lock', '--command', 'probe a'],
    ]) {
      expect(runReally(argv)).toBe('[probe][a]');
      expect(seen(argv)).toBe('[probe][a]');
    }
  });

  test('xargs, whose arguments come later', () => {
    for (const options of [
      '',
      '-r',
      '-n 1',
      '-n1',
      '-P 2 -0',
      '-I {}',
      '-d , -t',
      '--max-args=1',
      '--null',
    ]) {
      const argv = ['xargs', ...options.split(' ').filter((word) => word !== ''), 'probe', 'a'];
      expect(runReally(argv, 'x\n')).toContain('[probe][a]');
      expect(seen(argv)).toBe('[probe][a]');
    }
  });

  test('the dynamic loader', () => {
    const loader = '/lib64/ld-linux-x86-64.so.2';
    expect(every(readCommand([loader, '--argv0', 'x', '/bin/rm', 'y'])).at(-1)?.base).toBe('rm');
  });

  test('su and script, which hand a text to a shell', () => {
    for (const argv of [
      ['su', '-c', 'probe a'],
      ['su', '-', 'nobody', '-c', 'probe a'],
      ['su', 'nobody', '--command=probe a'],
      ['runuser', '-l', 'nobody', '-c', 'probe a'],
      ['script', '-q', '-c', 'probe a', '/dev/null'],
      ['script', '-qc', 'probe a'],
      ['watch', '-n', '1', 'probe', 'a'],
      ['sudo', '-s', 'probe', 'a'],
    ]) {
      expect(seen(argv)).toBe('[probe][a]');
    }
  });
});

describe('a real shell runs what is read in its text', () => {
  test.each([
    'probe a',
    '  probe   a\tb  ',
    "'probe' 'a b' \"c d\"",
    '"pro"be a\\ b',
    'p\\robe "a\\"b"',
    'X=1 Y="2 3" probe a',
    'true && probe a || probe b',
    'false || probe a',
    'true; probe a; true',
    'probe a & wait',
    'true | probe a',
    'probe a > out 2>&1',
    '>out probe a',
    '2>/dev/null probe a 3',
    'probe 2 3',
    'probe a >&- && probe b',
    'probe a </dev/null',
    '(probe a)',
    '{ probe a; }',
    '! probe a',
    'if probe a; then probe b; else true; fi',
    'while probe a; do break; done',
    'for x in 1; do probe a; done',
    'case x in x) probe a ;; esac',
    'f() { probe a; }; f',
    'x=$(probe a)',
    'true "$(probe a)"',
    'true `probe a`',
    'true "`probe a`"',
    'true $(true $(probe a))',
    'eval "probe a"',
    'eval probe a',
    'exec probe a',
    'command probe a',
    'sh -c "probe a"',
    'sh -c \'sh -c "probe a"\'',
    'env A=1 probe a',
    'true \\\n  && probe a',
    'probe \\\n a',
    'true # probe b\nprobe a',
    'probe a#b',
    'cat <<E >/dev/null\nprobe b\nE\nprobe a',
    "cat <<'E' >/dev/null\n$(probe b)\nE\nprobe a",
    'cat <<-E >/dev/null\n\tprobe b\n\tE\nprobe a',
    'echo "probe b" >/dev/null; probe a',
    'probe "$((1 + 2))x" || true',
    'echo probe b >/dev/null\n\nprobe a',
  ])('%j', (text) => {
    const ran = runReally(['sh', '-c', text]).replaceAll('[3x]', '[x]'); // what is computed cannot be read
    expect(ran).toContain('[probe]');
    const read = seen(['sh', '-c', text]);
    // What the text holds and did not come to run (the other branch) is read too.
    for (const one of ran.split(/(?=\[probe\])/)) expect(read).toContain(one);
    expect(read.includes('[probe][b]')).toBe(
      ran.includes('[probe][b]') || text.startsWith('true && probe a || probe b'),
    );
  });

  test('bash reads some things that sh does not', () => {
    for (const text of [
      "$'probe' a",
      'cat <(probe a) >/dev/null',
      'probe a &>out',
      'cat <<<x >/dev/null; probe a',
      'time -p probe a',
    ]) {
      expect(runReally(['bash', '-c', text])).toBe('[probe][a]');
      expect(seen(['bash', '-c', text])).toContain('[probe][a]');
    }
  });
});

test('commands within commands are read up to a cap, and beyond it count as not seen', () => {
  const nested = Array.from({ length: 15 }, (_, i) => ['xargs', `-I<${i}>`]).flat();
  const places = Array.from({ length: 15 }, (_, i) => `<${14 - i}>`);
  const commands = every(readCommand([...nested, 'ls', ...places]));
  const unread = commands.filter(({ unseen }) => unseen === 'too many commands in one');
  expect(unread.length).toBeGreaterThan(0);
  expect(commands.length - unread.length).toBe(MAX_COMMANDS_READ);
});

test('find within find is one command at each level', () => {
  const argv = Array.from({ length: 24 }, () => ['find', '-exec']).flat();
  expect(every(readCommand(argv)).length).toBeLessThanOrEqual(20);
});

test('a text longer than the cap is read up to it', () => {
  const text = 'true;'.repeat(MAX_TEXT_CHARS / 5);
  expect(readSimpleCommands(`probe;${text}`)[0]).toMatchObject({ words: ['probe'], assigned: [] });
  expect(readSimpleCommands(`${text} ; probe`).some(({ words }) => words[0] === 'probe')).toBe(false);
  expect(readSimpleCommands(text).length).toBe(MAX_COMMANDS);
});

test('wrappers are looked into up to a cap, and beyond it count as not seen', () => {
  const wrapped = (times: number): string[] => [...Array.from({ length: times }, () => 'nice'), 'ls'];
  const last = (times: number): Command | undefined => every(readCommand(wrapped(times))).at(-1);
  expect(last(MAX_WRAPPERS - 1)).toMatchObject({ base: 'ls' });
  expect(last(MAX_WRAPPERS - 1)?.unseen).toBeUndefined();
  expect(last(MAX_WRAPPERS)?.unseen).toBe('wrapped too many times');
});

test('substitutions are read up to a depth', () => {
  const nested = (depth: number): string => `${'echo $('.repeat(depth)}probe${')'.repeat(depth)}`;
  const sees = (depth: number): boolean =>
    readSimpleCommands(nested(depth)).some(({ words }) => words[0] === 'probe');
  expect(sees(MAX_NESTING)).toBe(true);
  expect(sees(MAX_NESTING + 1)).toBe(false);
});
