// Settings of a shell that are about the shell itself: tracing, and what takes away its voice.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BashShell } from '../../../src/string/shell/bash-shell.js';
import { withoutOwnLines } from '../../../src/string/shell/bash-lines.js';
import { until } from '../../helpers/wait.js';
import { makePlace, type Place } from './place.js';

const SHELL = 'bash:dev';

async function body(place: Place, cmd: string, shell = SHELL): Promise<string> {
  const { content } = await place.run(shell, cmd);
  return content.slice(content.indexOf('\n---\n') + 5);
}

test('set -x shows the commands of the user, and set -v their lines, and nothing of ours', async () => {
  await using place = makePlace();
  expect(await body(place, 'set -x; echo one')).toBe('++ echo one\none');
  expect(await body(place, 'echo two; (exit 3)')).toBe('++ echo two\ntwo\n++ exit 3');
  expect(await body(place, 'echo $?')).toBe('++ echo 3\n3');
  expect(await body(place, "PS4='at $LINENO: '; true")).toContain("PS4='at $LINENO: '");
  expect(await body(place, 'echo three')).toMatch(/^\S*at 1: echo three\nthree$/u);
  expect(await body(place, 'set +x; set -v')).not.toMatch(/builtin|PS1=|PROMPT/u);
  expect(await body(place, 'echo four')).toBe('echo four\nfour');
  expect((await place.run(SHELL, '//tail')).content).not.toMatch(/builtin|PROMPT_COMMAND|[0-9a-f]{32}/u);
});

test('a shell that has lost its voice is told of and closed, and the next command has a new one', async () => {
  await using place = makePlace();
  const harm = ['enable -n printf', 'ulimit -n 5', 'builtin() { :; }'];
  const check = async (cmd: string, at: number): Promise<void> => {
    const shell = `bash:lost${at}`;
    const lost = await place.run(shell, `echo before; ${cmd}`);
    expect([cmd, lost.code]).toEqual([cmd, 'SHELL_LOST']);
    expect(lost.content).toContain('before');
    expect(await body(place, 'echo after', shell)).toBe('after');
  };
  await Promise.all(harm.map(check));
});

test('a shell that takes its time until it is at its first prompt is known there all the same', async () => {
  await using place = makePlace();
  const slow = '() { case "$2" in p*) command sleep 0.5 ;; esac; command builtin "$@"; }';
  await using shell = await BashShell.start({
    home: place.home,
    cwd: place.home,
    env: { PATH: process.env['PATH'] ?? '', 'BASH_FUNC_builtin%%': slow },
    folder: join(place.dataDir, 'shells'),
    spoolDir: join(place.dataDir, 'spool'),
  });
  await expect(until(() => shell.isAtPrompt, 'its prompt', 10_000)).resolves.toBe(true);
});

test('whoever reads the terminal in the shell itself is waited for, not taken for lost', async () => {
  await using place = makePlace();
  const readers = ['read -r x', 'read -rn 1 x', 'mapfile -n 1 x', 'select x in a b; do break; done'];
  const check = async (cmd: string, at: number): Promise<void> => {
    const shell = `bash:reads${at}`;
    expect([cmd, (await place.run(shell, cmd)).code]).toEqual([cmd, 'WAITING_FOR_INPUT']);
    let { code } = await place.run(shell, '//send 1');
    if (code === 'WAITING_FOR_INPUT') ({ code } = await place.run(shell, '//wait')); // the machine had no time for it
    expect([cmd, code]).toEqual([cmd, null]);
  };
  await Promise.all(readers.map(check));
});

test('what looks like our lines and is not stays', () => {
  const nonce = 'a1'.repeat(16);
  const prompt = String.raw`{ \builtin printf "p %s\0" 7 >&200; } 2>/dev/null`;
  const lines = `builtin . /elsewhere\n+ builtin . /d/input\n${prompt}\nx builtin . /d/input y\nsee ${prompt}\nlast`;
  expect(withoutOwnLines(lines, '/d/input', nonce)).toBe(
    `builtin . /elsewhere\nx builtin . /d/input y\nsee ${prompt}\nlast`,
  );
  expect(withoutOwnLines(`a ${nonce} builtin b\nc\n`, '/d/input', nonce)).toBe('c\n');
  expect(withoutOwnLines(`+ builtin . '/d o/input'\n`, '/d o/input')).toBe('');
});
