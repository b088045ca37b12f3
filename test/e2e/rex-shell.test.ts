// rex shell on a real terminal.

import { afterAll, expect, test } from 'vitest';
import { openPty } from '../../src/host/pty/open-pty.js';
import type { Pty } from '../../src/host/pty/pty.js';
import { bin } from '../helpers/program.js';
import { rexHome } from '../helpers/rex.js';
import { readUntil } from '../unit/host/pty/terminals.js';

const home = rexHome();
afterAll(() => home[Symbol.asyncDispose]());

/** In a shell that goes on after rex, so that the terminal can be looked at afterwards. */
function start(args: string, after: string, size = { cols: 100, rows: 30 }): Promise<Pty> {
  const rex = `'${process.execPath}' '${bin('rex')}'`;
  const env = { ...process.env, ...home.env, SHELL: '/bin/sh', PS1: 'prompt> ' };
  return openPty({ argv: ['sh', '-c', `${rex} ${args}; ${after}`], env, cwd: home.folder, ...size });
}

const type = (pty: Pty, text: string): Promise<void> => pty.write(Buffer.from(text));

test('a shell runs on a terminal of our size, and its exit code is ours', async () => {
  await using pty = await start('shell local -e "PS1=prompt> " -- sh', 'echo code $?; stty -a');
  await readUntil(pty, 'prompt> ');
  await type(pty, 'stty size; pwd\r');
  expect(await readUntil(pty, home.folder)).toContain('30 100');
  await type(pty, 'exit 6\r');
  const seen = await readUntil(pty, 'icanon');
  expect(seen).toContain('code 6');
  expect(seen).not.toContain('-icanon'); // as it was before
});

test('keys reach the program as keys, and a new size is passed on', async () => {
  const script = `trap "stty size" WINCH; trap "echo got-int" INT; echo ready; while :; do sleep 0.1; done`;
  await using pty = await start(`shell local -- sh -c '${script}'`, 'true');
  await readUntil(pty, 'ready');
  await type(pty, '\u0003');
  await readUntil(pty, 'got-int');
  pty.resize({ cols: 77, rows: 11 });
  expect(await readUntil(pty, '11 77')).toContain('11 77');
});

test('the terminal is restored when rex is told to end, and the program there ends', async () => {
  await using pty = await start(
    `shell local -- sh -c 'echo ready $PPID; sleep 300'`,
    'echo code $?; stty -a',
  );
  const seen = await readUntil(pty, 'ready ');
  expect(seen).toContain('ready');
  // Enter, ~ and . is the way out that needs nobody on the other side.
  await type(pty, '\r~.');
  expect(await readUntil(pty, 'icanon')).not.toContain('-icanon');
});

test('without a terminal it says what to use instead', async () => {
  const { code, stderr } = await home.rex(['shell', 'local']);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/needs a terminal.*\n.*rex exec/)]);
});
