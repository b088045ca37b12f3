// REXD v1: how programs on terminals are ended, or left alone.

import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { showCommand, Terminal } from '../kit/pty-client.js';
import { verifies } from '../kit/verifies.js';

verifies('rexd/pty/signals', async () => {
  await using client = await ExecClient.open();
  for (const [asked, got] of [
    ['KILL', 'SIGKILL'],
    ['9', 'SIGKILL'],
    ['INT', 'SIGINT'],
    ['sigquit', 'SIGQUIT'],
    ['HUP', 'SIGHUP'],
    ['USR2', 'SIGUSR2'],
    ['SIGALRM', 'SIGALRM'],
    [undefined, 'SIGTERM'],
  ] as const) {
    const terminal = await Terminal.open(client, { shell: true, command: 'echo ready; exec sleep 60' });
    await terminal.shows('ready');
    const process_id = terminal.processId;
    for (const wrong of ['BOGUS', '', '0', '999'])
      expect((await client.refused('exec.kill', { process_id, signal: wrong }))?.code, wrong).toBe(-32602);
    const signal = asked === undefined ? {} : { signal: asked };
    expect(await client.ask('exec.kill', { process_id, ...signal })).toEqual({ ok: true });
    expect(await terminal.exit(), asked).toMatchObject({
      exit_code: 128 + constants.signals[got],
      signal: got,
      timed_out: false,
    });
    expect(await client.ask('exec.kill', { process_id, ...signal })).toEqual({ ok: false });
  }
});

verifies('rexd/pty/signals', async () => {
  await using client = await ExecClient.open();
  const deaf = await Terminal.open(client, {
    shell: true,
    command: `trap 'echo one' USR1; trap '' TERM HUP; echo ready $$.; while :; do sleep 0.01; done`,
  });
  const pid = Number(/ready (\d+)\./.exec(await deaf.shows('.'))?.[1]);
  const process_id = deaf.processId;
  await client.ask('exec.kill', { process_id, signal: 'USR1' }); // delivered, and nothing more
  await deaf.shows('one');
  expect(await client.ask('exec.wait', { process_id, timeout_ms: 1 })).toMatchObject({ status: 'running' });
  expect(await client.ask('exec.kill', { process_id })).toEqual({ ok: true }); // TERM, and KILL when it does not heed
  expect(await deaf.exit()).toMatchObject({ exit_code: 137, signal: 'SIGKILL' });
  expect(isAlive(pid)).toBe(false);
});

verifies('rexd/pty.close/keep', async () => {
  await using client = await ExecClient.open();
  const file = join(client.root, 'heard');
  const terminal = await Terminal.open(client, {
    shell: true,
    command: `trap 'echo hung up >heard; exit 3' HUP; echo ready; while :; do sleep 0.01; done`,
  });
  await terminal.shows('ready');
  const closing = { pty_id: terminal.ptyId, kill: false };
  expect(await client.ask('pty.close', closing)).toEqual({ ok: true });
  expect(await terminal.exit()).toMatchObject({ exit_code: 3, signal: null });
  expect(readFileSync(file, 'utf8')).toBe('hung up\n');
  expect(await client.ask('pty.close', closing)).toEqual({ ok: true });
});

verifies('rexd/pty.close/keep', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, {
    shell: true,
    command: `trap '' HUP; echo $$.; cat >ended; echo more; touch after; exec >/dev/null 2>&1; while :; do sleep 0.01; done`,
  });
  const pid = Number(/(\d+)\./.exec(await terminal.shows('.'))?.[1]);
  const [pty_id, process_id] = [terminal.ptyId, terminal.processId];
  expect(await client.ask('pty.close', { pty_id, kill: false })).toEqual({ ok: true });
  // Its reads end, its writes fail, and it goes on.
  await until(() => existsSync(join(client.root, 'after')), 'the program to go on');
  expect(await client.ask('exec.wait', { process_id, timeout_ms: 1 })).toMatchObject({
    status: 'running',
    waiting_for_input: false,
  });
  expect(await client.ask('session.info')).toMatchObject({ running_processes: 1 });
  for (const [method, params] of [
    ['pty.input', { data: 'x' }],
    ['pty.resize', { cols: 80, rows: 24 }],
  ] as const)
    expect((await client.refused(method, { pty_id, ...params }))?.code).toBe(-32005);
  expect(terminal.events.some(({ method }) => method === 'pty.exit')).toBe(false);
  expect(await client.ask('exec.kill', { process_id })).toEqual({ ok: true });
  expect(await terminal.exit()).toMatchObject({ exit_code: 143, signal: 'SIGTERM' });
  expect(isAlive(pid)).toBe(false);
});

verifies('rexd/pty.close/keep', async () => {
  await using client = await ExecClient.open();
  const session_id = await client.openSession();
  const hold = `trap '' HUP; echo $$.; while :; do sleep 0.01; done`;
  const [ended, closed] = [
    await Terminal.open(client, { shell: true, command: hold, session_id }),
    await Terminal.open(client, { shell: true, command: hold, session_id }),
  ];
  const pids = await Promise.all(
    [ended, closed].map(async (each) => Number(/(\d+)\./.exec(await each.shows('.'))?.[1])),
  );
  for (const { ptyId } of [ended, closed])
    expect(await client.ask('pty.close', { session_id, pty_id: ptyId, kill: false })).toEqual({ ok: true });
  expect(await client.ask('pty.close', { session_id, pty_id: closed.ptyId })).toEqual({ ok: true });
  expect(pids.map(isAlive)).toEqual([true, false]);
  expect(await client.ask('session.close', { session_id })).toEqual({ ok: true });
  expect(pids.map(isAlive)).toEqual([false, false]);
  expect((await ended.exit())['exit_code']).not.toBe(0);
});

verifies('rexd/pty/drop-in', async () => {
  await using client = await ExecClient.open();
  const shown = await showCommand(client, 'stty size; echo "$0 $GREETING"; exit 3', {
    login: false,
    cols: 80,
    rows: 24,
    cwd: client.root,
    env: { GREETING: 'hi' },
  });
  expect(shown.text).toBe('24 80\r\nsh hi\r\n');
  expect(shown.exit['exit_code']).toBe(3);
  const terminal = await Terminal.open(client, {
    argv: ['/bin/sh', '-c', 'echo "$TERM:$COLORTERM:${HOME:+home}"; kill -KILL $$'],
    cwd: client.root,
    env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' },
    cols: 120,
    rows: 32,
  });
  expect(await terminal.exit()).toMatchObject({ exit_code: 137, signal: 'SIGKILL' });
  expect(terminal.shown.toString()).toBe('xterm-256color:truecolor:home\r\n');
});

verifies('rexd/pty/drop-in', async () => {
  await using client = await ExecClient.open();
  const shell = await Terminal.open(client, {
    argv: ['sh', '-i'],
    env: { PS1: '$ ', ENV: '' },
    cols: 80,
    rows: 24,
  });
  await shell.shows('$ ');
  expect(await shell.type('stty size\r')).toEqual({ accepted_bytes: 10 });
  await shell.shows('24 80');
  expect(await client.ask('pty.resize', { pty_id: shell.ptyId, cols: 101, rows: 41 })).toEqual({ ok: true });
  await shell.type('stty size\r');
  await shell.shows('41 101');
  await shell.type('exit 7\r');
  const exit = await shell.exit();
  expect(exit).toMatchObject({ exit_code: 7, signal: null, pty_id: shell.ptyId });
  for (const { params } of shell.events) expect(params['session_id']).toBe(client.sessionId);
});
