// Completion of string, asked of a real bash.

import { execFileSync, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { string, stringEnvironment } from '../conformance/kit/string-cli.js';
import { StringdUnderTest } from '../conformance/kit/stringd-under-test.js';
import { bin } from '../helpers/program.js';
import { until } from '../helpers/wait.js';

let stringd: StringdUnderTest;
beforeAll(async () => {
  stringd = await StringdUnderTest.start();
}, 60_000);
afterAll(async () => await stringd[Symbol.asyncDispose]());

/** What bash offers for each line, the cursor at its end. */
function complete(lines: readonly string[]): string[][] {
  const script = [
    `string() { '${process.execPath}' '${bin('string')}' "$@"; }`,
    'source <(string completions bash)',
    'for COMP_LINE in "$@"; do COMP_POINT=${#COMP_LINE}; _string_complete; echo "${COMPREPLY[*]}"; done',
    'complete -p string',
  ].join('\n');
  const env = { ...process.env, ...stringEnvironment(stringd) };
  const out = execFileSync('bash', ['--norc', '-c', script, 'bash', ...lines], {
    env,
    encoding: 'utf8',
  }).split('\n');
  expect(out.at(-2)).toBe('complete -F _string_complete string');
  return out.slice(0, -2).map((line) => line.split(' ').filter((word) => word !== ''));
}

test('words, flags, verbs and open topics are offered where they belong', async () => {
  await stringd.exec('notes-2', '/info');
  await stringd.exec('app:weather:korea', '/info');
  const lines = [
    'string ev',
    'string --j',
    'string daemon st',
    'string --agent x --json sys',
    'string not',
    'string app:w',
    'string app:weather:',
    'string --agent ',
    'string notes-2 x',
    'string mcp config --client c',
    'string event webhook r',
  ];
  // Whoever types does not wait for a daemon that is late: on a busy machine it may be asked more than once.
  const offered = await until(() => {
    const found = complete(lines);
    return found.slice(4, 7).every((words) => words.length > 0) && found;
  }, 'the topics');
  expect(offered).toEqual([
    ['event'],
    ['--json'],
    ['start', 'stop', 'status'],
    ['system'],
    ['notes-2'],
    ['weather:korea'],
    ['korea'],
    [],
    [],
    ['claude', 'codex', 'cursor'],
    ['rotate'],
  ]);
});

test('without a daemon nothing is started, and the rest is offered all the same', async () => {
  const place = { base: stringd.base, port: 1 };
  expect(await string(place, ['completions', '--topics'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

test('the other shells take theirs', async () => {
  for (const shell of ['zsh', 'fish']) {
    const { code, stdout } = await string(stringd, ['completions', shell]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('--topics')]);
    const { error, status } = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
    expect(error === undefined ? status : 'no such shell here').toBeOneOf([0, 'no such shell here']);
  }
});
