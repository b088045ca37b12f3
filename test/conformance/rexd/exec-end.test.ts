// REXD v1: how processes end, and who is told.

import { writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ExecClient } from '../kit/exec-client.js';
import { inTime } from '../kit/in-time.js';
import { verifies } from '../kit/verifies.js';
import { isAlive, running } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';

/** What there is when the configuration says nothing. */
const DEFAULT_TIMEOUT_MS = 30_000;
/** A tree of three: one of them deaf to TERM, one in a session of its own, all naming themselves. */
const TREE = `
  (trap '' TERM; while :; do sleep 1000; done) & echo deaf $!
  setsid sh -c 'echo away $$; exec sleep 1000' & 
  echo top $$
  wait; while :; do sleep 1000; done`;

interface Standing {
  readonly id: string;
  readonly pids: number[];
}

/** Gives undefined when it ends before it stands. */
async function tryTree(
  client: ExecClient,
  params: Record<string, unknown> = {},
): Promise<Standing | undefined> {
  const id = await client.start({ shell: true, command: TREE, stdin: '', ...params });
  const pids = await client.said(id, (text) => {
    const stands = ['deaf', 'away', 'top'].every((name) => new RegExp(`${name} \\d+\\n`).test(text));
    return stands ? [...text.matchAll(/\d+/g)].map(Number) : undefined;
  });
  return pids && { id, pids };
}

async function startTree(client: ExecClient, params: Record<string, unknown> = {}): Promise<Standing> {
  const standing = await tryTree(client, params);
  if (standing === undefined) throw new Error('the tree does not stand');
  return standing;
}

const gone = async (pids: readonly number[], withinMs = 60_000): Promise<void> => {
  await until(() => !pids.some(isAlive), `the end of ${pids.join(', ')}`, withinMs);
};

verifies('rexd/exec.exit/shape', async () => {
  await using client = await ExecClient.open();
  const { id, exit } = await client.sh('printf abc; printf de >&2; exit 7');
  expect(exit).toEqual({
    session_id: client.sessionId,
    process_id: id,
    exit_code: 7,
    signal: null,
    timed_out: false,
    duration_ms: expect.any(Number),
    bytes_stdout: 3,
    bytes_stderr: 2,
    output_limit_exceeded: false,
  });
  expect(Number.isInteger(exit['duration_ms'])).toBe(true);
});

verifies('rexd/exec.exit/terminal', async () => {
  await using client = await ExecClient.open();
  const slow = await client.start({ argv: ['sleep', '60'] });
  await client.ask('exec.kill', { process_id: slow, signal: 'KILL' });
  await client.ask('exec.kill', { process_id: slow });
  const runs = [
    await client.finish(slow),
    await client.sh('seq 1 5000; seq 1 5000 >&2'),
    await client.sh('kill -SEGV $$'),
    await client.sh('sleep 60', { timeout_ms: 50 }),
    await client.sh('yes', { max_output_bytes: 1000 }),
    await client.sh('exec >&- 2>&-; sleep 0.05'), // closes its outputs long before it ends
  ];
  await client.hearAll();
  for (const { id } of runs) {
    const events = client.events(id);
    expect(events.filter(({ method }) => method === 'exec.exit')).toHaveLength(1);
    expect(events.at(-1)?.method).toBe('exec.exit');
  }
});

verifies('rexd/exec.exit/background', async () => {
  await using client = await ExecClient.open();
  const { stdout, exit } = await client.sh('sleep 1000 & echo started'); // who waited for it would run out of time
  expect(stdout.toString()).toBe('started\n');
  expect(exit).toMatchObject({ exit_code: 0, timed_out: false });
});

verifies('rexd/exec.wait/result', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ shell: true, command: 'sleep 0.1; printf abc; exit 4' });
  const state = await client.ask('exec.wait', { process_id: id });
  expect(state).toMatchObject({
    status: 'exited',
    exit_code: 4,
    signal: null,
    bytes_stdout: 3,
    bytes_stderr: 0,
  });
  expect((await client.refused('exec.wait', { process_id: 'p_none' }))?.code).toBe(-32005);
});

verifies('rexd/exec.wait/running', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ shell: true, command: 'printf abc; sleep 60' });
  await client.output(id, 'abc');
  expect(await client.ask('exec.wait', { process_id: id, timeout_ms: 20 })).toMatchObject({
    status: 'running',
    exit_code: null,
    signal: null,
    bytes_stdout: 3,
    bytes_stderr: 0,
  });
});

verifies('rexd/exec.wait/poll', async () => {
  await using client = await ExecClient.open({ limits: { default_timeout_ms: 60_000 } });
  const id = await client.start({ argv: ['sleep', '60'] });
  expect(await client.ask('exec.wait', { process_id: id, timeout_ms: 0 })).toMatchObject({
    status: 'running',
  });
});

verifies('rexd/exec.wait/late', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ shell: true, command: 'sleep 0.1; exit 9' });
  const early = await Promise.all([1, 2, 3].map(() => client.ask('exec.wait', { process_id: id })));
  await client.finish(id);
  for (let n = 0; n < 20; n++) await client.sh('true');
  const late = await Promise.all([1, 2, 3].map(() => client.ask('exec.wait', { process_id: id })));
  for (const state of [...early, ...late]) expect(state).toMatchObject({ status: 'exited', exit_code: 9 });
});

verifies('rexd/exec.wait/statuses', async () => {
  await using client = await ExecClient.open();
  const slow = { argv: ['sleep', '60'] };
  const killed = await client.start(slow);
  await client.ask('exec.kill', { process_id: killed, signal: 'KILL' });
  const cases = [
    [(await client.sh('exit 0')).id, { status: 'exited', exit_code: 0, signal: null }],
    [killed, { status: 'killed', exit_code: 128 + constants.signals.SIGKILL, signal: 'SIGKILL' }],
    [
      (await client.run({ ...slow, timeout_ms: 50 })).id,
      { status: 'timed_out', exit_code: 128 + constants.signals.SIGTERM, signal: 'SIGTERM' },
    ],
    [(await client.sh('kill -SEGV $$')).id, { status: 'killed', exit_code: 139, signal: 'SIGSEGV' }],
  ] as const;
  for (const [id, state] of cases) {
    const { exit } = await client.finish(id);
    expect(await client.ask('exec.wait', { process_id: id })).toMatchObject(state);
    expect(exit).toMatchObject({
      exit_code: state.exit_code,
      signal: state.signal,
      timed_out: state.status === 'timed_out',
    });
  }
});

verifies('rexd/exec.start/timeout', async () => {
  await using client = await ExecClient.open({ limits: { default_timeout_ms: 300, hard_timeout_ms: 400 } });
  const argv = ['sleep', '60'];
  for (const [timeout_ms, atLeast] of [
    [undefined, 290],
    [0, 290],
    [100_000, 390],
    [60, 55],
  ] as const) {
    const { exit } = await client.run({ argv, ...(timeout_ms !== undefined && { timeout_ms }) });
    expect(exit).toMatchObject({ timed_out: true, output_limit_exceeded: false });
    expect(exit['duration_ms'], String(timeout_ms)).toBeGreaterThanOrEqual(atLeast);
    expect(exit['duration_ms']).toBeLessThan(DEFAULT_TIMEOUT_MS);
  }
});

verifies('rexd/exec.start/timeout', async () => {
  await using client = await ExecClient.open();
  const { id, pids } = await inTime(700, (timeout_ms) => tryTree(client, { timeout_ms }));
  const { exit } = await client.finish(id);
  expect(exit).toMatchObject({ timed_out: true, exit_code: expect.any(Number) });
  expect(exit['exit_code']).not.toBe(0);
  await gone(pids);
});

verifies('rexd/exec.start/max-output', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 10_000 } });
  const exact = await client.sh('head -c 10000 /dev/zero');
  expect(exact.stdout.length).toBe(10_000);
  expect(exact.exit).toMatchObject({ exit_code: 0, output_limit_exceeded: false, bytes_stdout: 10_000 });
  const over = await client.sh('yes; sleep 60');
  expect(over.stdout.toString()).toBe('y\n'.repeat(5000));
  expect(over.exit).toMatchObject({ output_limit_exceeded: true, timed_out: false, bytes_stdout: 10_000 });
  expect(over.exit['exit_code']).not.toBe(0);
  expect(await client.ask('exec.wait', { process_id: over.id })).toMatchObject({
    status: 'killed',
    output_limit_exceeded: true,
  });
  const both = await client.sh('yes & yes >&2 & wait');
  expect(both.stdout.length + both.stderr.length).toBe(10_000);
  expect(both.exit).toMatchObject({ bytes_stdout: both.stdout.length, bytes_stderr: both.stderr.length });
});

verifies('rexd/exec.start/max-output', async () => {
  await using client = await ExecClient.open();
  const { id, pids } = await startTree(client, {
    max_output_bytes: 1000,
    command: TREE.replace('wait;', 'read go; yes;'),
    stdin_open: true,
  });
  await client.ask('exec.input', { process_id: id, data: '\n' });
  const { stdout, exit } = await client.finish(id);
  expect(stdout.length).toBe(1000);
  expect(exit).toMatchObject({ output_limit_exceeded: true, timed_out: false });
  await gone(pids);
});

verifies('rexd/exec.start/max-output-downward', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 5000 } });
  for (const [max_output_bytes, delivered] of [
    [100, 100],
    [0, 5000],
    [4_194_304, 5000],
  ]) {
    expect((await client.sh('yes', { max_output_bytes })).stdout.length).toBe(delivered);
  }
});

verifies('rexd/exec.kill/default', async () => {
  await using client = await ExecClient.open();
  const { id, pids } = await startTree(client);
  expect(await client.ask('exec.kill', { process_id: id })).toEqual({ ok: true });
  const { exit } = await client.finish(id);
  expect(exit).toMatchObject({ signal: 'SIGTERM', exit_code: 143, timed_out: false });
  await gone(pids); // TERM for most of them; KILL for the deaf one when its grace is over
  const again = async () => (await client.ask('exec.kill', { process_id: id }))['ok'] === false;
  await until(again, 'the last of the tree, who are not named here, to be gone');
  expect((await client.refused('exec.kill', { process_id: 'p_none' }))?.code).toBe(-32005);
});

verifies('rexd/exec.kill/default', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({
    shell: true,
    command: 'trap "echo bye; exit 5" TERM; echo ready; while :; do sleep 0.01; done',
  });
  await client.output(id, 'ready');
  await client.ask('exec.kill', { process_id: id });
  const { stdout, exit } = await client.finish(id);
  expect(stdout.toString()).toBe('ready\nbye\n');
  expect(exit).toMatchObject({ exit_code: 5, signal: null });
});

verifies('rexd/exec.kill/signals', async () => {
  await using client = await ExecClient.open();
  for (const [asked, got] of [
    ['KILL', 'SIGKILL'],
    ['SIGKILL', 'SIGKILL'],
    ['9', 'SIGKILL'],
    ['INT', 'SIGINT'],
    ['sigint', 'SIGINT'],
    ['HUP', 'SIGHUP'],
    ['QUIT', 'SIGQUIT'],
    ['USR1', 'SIGUSR1'],
    ['ABRT', 'SIGABRT'],
    ['TERM', 'SIGTERM'],
  ] as const) {
    const id = await client.start({ argv: ['sleep', '60'] });
    for (const wrong of ['BOGUS', '', '0', '999', 'SIG'])
      expect((await client.refused('exec.kill', { process_id: id, signal: wrong }))?.code, wrong).toBe(
        -32602,
      );
    expect(await client.ask('exec.wait', { process_id: id, timeout_ms: 1 })).toMatchObject({
      status: 'running',
    });
    expect(await client.ask('exec.kill', { process_id: id, signal: asked })).toEqual({ ok: true });
    expect((await client.finish(id)).exit, asked).toMatchObject({
      signal: got,
      exit_code: 128 + constants.signals[got],
    });
  }
});

verifies('rexd/exec.kill/signals', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({
    shell: true,
    command: 'trap "echo one" USR1; echo ready; while :; do sleep 0.01; done',
  });
  await client.output(id, 'ready');
  await client.ask('exec.kill', { process_id: id, signal: 'USR1' });
  await client.output(id, 'one');
  await client.ask('exec.kill', { process_id: id, signal: 'STOP' });
  expect(await client.ask('exec.wait', { process_id: id, timeout_ms: 50 })).toMatchObject({
    status: 'running',
  });
  await client.ask('exec.kill', { process_id: id, signal: 'CONT' });
  await client.ask('exec.kill', { process_id: id });
  await client.finish(id);
});

verifies('rexd/session.close/kills', async () => {
  await using client = await ExecClient.open();
  const other = await client.openSession();
  const { id, pids } = await startTree(client);
  const left = await client.sh('setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!'); // of a command long over
  const kept = await client.start({ session_id: other, shell: true, command: 'echo $$; exec sleep 1000' });
  const keptPid = Number(await client.output(kept, '\n'));
  const leftPid = Number(left.stdout.toString());
  expect(isAlive(leftPid)).toBe(true);
  expect(await client.ask('session.close')).toEqual({ ok: true });
  expect([...pids, leftPid].filter(isAlive)).toEqual([]);
  expect((await client.finish(id)).exit['exit_code']).not.toBe(0);
  expect((await client.refused('exec.wait', { process_id: id }))?.code).toBe(-32602);
  expect(isAlive(keptPid)).toBe(true);
  await client.ask('session.close', { session_id: other });
  expect(isAlive(keptPid)).toBe(false);
});

verifies('rexd/session.close/kills', async () => {
  await using client = await ExecClient.open();
  const note = `rexd-conformance-${process.pid}`;
  for (let n = 0; n < 8; n++) client.send('exec.start', { argv: ['sh', '-c', 'sleep 1000', note] });
  await client.ask('session.close'); // on the heels of the starts
  await until(() => !running().some(({ command }) => command.includes(note)), 'nobody to be left');
});

verifies('rexd/lifetime/eof', async () => {
  await using client = await ExecClient.open();
  const { pids } = await startTree(client);
  client.rexd.endInput();
  expect(await client.rexd.ended).toEqual({ code: 0, signal: null });
  await gone(pids, 100);
});

verifies('rexd/lifetime/eof', async () => {
  const note = `rexd-conformance-eof-${process.pid}`;
  await using client = await ExecClient.open();
  for (let n = 0; n < 8; n++) client.send('exec.start', { argv: ['sh', '-c', 'sleep 1000', note] });
  client.rexd.endInput();
  await client.rexd.ended;
  expect(running().filter(({ command }) => command.includes(note))).toEqual([]);
});

verifies('rexd/lifetime/sigterm', async () => {
  await using client = await ExecClient.open();
  const { pids } = await startTree(client);
  client.rexd.child.kill('SIGTERM');
  await client.rexd.ended;
  await gone(pids, 100);
});

verifies('rexd/lifetime/sigkill', async () => {
  await using client = await ExecClient.open();
  const { pids } = await startTree(client);
  writeFileSync(join(client.root, 'mark'), '');
  const rexd = client.rexd.child.pid ?? 0;
  client.rexd.child.kill('SIGKILL');
  await client.rexd.ended;
  expect(isAlive(rexd)).toBe(false);
  await gone(pids);
});

verifies('rexd/exec.kill/default', async () => {
  await using client = await ExecClient.open();
  const { id, stdout } = await client.sh('sleep 1000 & echo $!'); // the command is over, what it left is not
  const left = Number(stdout.toString());
  expect(isAlive(left)).toBe(true);
  expect(await client.ask('exec.kill', { process_id: id })).toEqual({ ok: true });
  await gone([left]);
  const again = async () => (await client.ask('exec.kill', { process_id: id }))['ok'] === false;
  await until(again, 'nobody to be left');
  expect(await client.ask('exec.wait', { process_id: id })).toMatchObject({ status: 'exited', exit_code: 0 });
});
