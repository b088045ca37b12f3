// REXD v1: what is typed into terminals, what they show, and how they end.

import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { descendants, isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { showCommand, Terminal } from '../kit/pty-client.js';
import { verifies } from '../kit/verifies.js';
import { runs } from '../../helpers/runs.js';

verifies('rexd/pty.input/keys', async () => {
  await using client = await ExecClient.open();
  const cat = await Terminal.open(client, { argv: ['cat'] });
  expect(await cat.type('grüß ✓\r')).toEqual({ accepted_bytes: 11 });
  expect(await cat.shows('grüß ✓\r\ngrüß ✓\r\n')).toBeDefined(); // the echo, then the program
  expect(await cat.type(Buffer.from('\u0004').toString('base64'), { encoding: 'base64' })).toEqual({
    accepted_bytes: 1,
  });
  expect(await cat.exit()).toMatchObject({ exit_code: 0, signal: null });
  const refused = await client.refused('pty.input', { pty_id: cat.ptyId, data: '!', encoding: 'base64' });
  expect(refused?.code).toBe(-32602);
});

verifies('rexd/pty.input/keys', async () => {
  await using client = await ExecClient.open();
  const sleep = await Terminal.open(client, { shell: true, command: 'echo ready; exec sleep 60' });
  await sleep.shows('ready'); // before that nobody may be there to interrupt
  await sleep.type('\u0003');
  expect(await sleep.exit()).toMatchObject({ exit_code: 130, signal: 'SIGINT' });
});

verifies('rexd/pty.input/not-read', async () => {
  await using client = await ExecClient.open({ limits: { default_timeout_ms: 500 } });
  const deaf = await Terminal.open(client, {
    shell: true,
    command: 'stty raw -echo; echo ready; exec sleep 60',
  });
  await deaf.shows('ready');
  const keys = { pty_id: deaf.ptyId, data: 'x'.repeat(1024 * 1024) };
  expect((await client.refused('pty.input', keys))?.code).toBe(-32003);
  expect((await client.refused('pty.input', { ...keys, data: keys.data.repeat(5) }))?.code).toBe(-32008);
  expect(await client.ask('session.info')).toMatchObject({ running_processes: 1 });
});

verifies('rexd/pty.resize/size', async () => {
  await using client = await ExecClient.open();
  const shell = await Terminal.open(client, {
    shell: true,
    command: `trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done`,
  });
  await shell.shows('ready');
  const size = { pty_id: shell.ptyId, cols: 100, rows: 40 };
  expect(await client.ask('pty.resize', size)).toEqual({ ok: true });
  await shell.shows('40 100');
  for (const wrong of [{ cols: 0 }, { rows: 0 }, { cols: 65_536 }, { cols: null }])
    expect((await client.refused('pty.resize', { ...size, ...wrong }))?.code).toBe(-32602);
});

verifies('rexd/pty.close/ends', async () => {
  await using client = await ExecClient.open();
  const shell = await Terminal.open(client, {
    shell: true,
    command: `trap '' HUP; sleep 600 & echo "pid $!."; wait`,
  });
  const pid = Number(/pid (\d+)\./.exec(await shell.shows('.'))?.[1]);
  expect(await shell.close()).toEqual({ ok: true });
  expect(await shell.exit()).toMatchObject({ exit_code: expect.any(Number) });
  expect((await shell.exit())['exit_code']).not.toBe(0);
  expect(isAlive(pid)).toBe(false);
  expect(await shell.close()).toEqual({ ok: true });
});

verifies('rexd/pty/not-found', async () => {
  await using client = await ExecClient.open();
  const [own, other] = [client.sessionId, await client.openSession()];
  const terminal = await Terminal.open(client, { argv: ['cat'] });
  const calls = [
    ['pty.input', { data: 'x' }],
    ['pty.resize', { cols: 80, rows: 24 }],
    ['pty.close', {}],
  ] as const;
  for (const [method, params] of calls) {
    const unknown = await client.refused(method, { ...params, pty_id: 'pty_none' });
    expect(unknown).toMatchObject({ code: -32005, data: { pty_id: 'pty_none' } });
    const foreign = await client.refused(method, { ...params, pty_id: terminal.ptyId, session_id: other });
    expect(foreign).toMatchObject({ code: -32005, message: unknown?.message });
  }
  expect(own).not.toBe(other);
  await terminal.type('\u0004');
  await terminal.exit();
  for (const [method, params] of calls.slice(0, 2))
    expect((await client.refused(method, { ...params, pty_id: terminal.ptyId }))?.code).toBe(-32005);
});

verifies('rexd/pty.output/shape', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, {
    shell: true,
    command: 'echo one; read go; echo two; read go; echo three',
  });
  for (const word of ['one', 'two']) {
    await terminal.shows(word);
    await terminal.type('\r');
  }
  await terminal.exit();
  const pieces = terminal.events.filter((event) => event.method === 'pty.output');
  expect(pieces.length).toBeGreaterThan(1);
  for (const [i, { params }] of pieces.entries())
    expect(params).toEqual({
      session_id: client.sessionId,
      pty_id: terminal.ptyId,
      process_id: terminal.processId,
      seq: i + 1,
      data: expect.any(String),
      encoding: 'utf8',
    });
});

verifies('rexd/pty.output/at-once', async () => {
  await using client = await ExecClient.open();
  const shell = await Terminal.open(client, { argv: ['sh', '-i'], env: { PS1: 'ask> ', ENV: '' } });
  await shell.shows('ask> '); // no newline after it, and none will come
  await shell.type('printf "Password: "\r');
  await shell.shows('Password: ask> ');
});

verifies('rexd/pty.output/exact', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 100_000 } });
  const numbers = Array.from({ length: 50_000 }, (_, i) => `${i + 1}\r\n`).join('');
  const { text, exit } = await showCommand(client, 'seq 1 50000');
  expect(text === numbers, `${text.length} of ${numbers.length} characters`).toBe(true); // beyond what is kept, too
  expect(exit).toMatchObject({ exit_code: 0 });
});

verifies('rexd/pty.output/exact', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, {
    shell: true,
    command: `stty -opost -echo; printf 'ü\\r\\n'; sleep 0.1; printf '\\303'; sleep 0.1; printf '\\274'; read go; printf '\\377\\000\\302'`,
  });
  await terminal.shows('ü\r\nü'); // or all of it might come in one piece, which is no text
  await terminal.type('\r');
  await terminal.exit();
  expect(terminal.shown).toEqual(Buffer.from('c3bc0d0ac3bcff00c2', 'hex'));
  const texts = terminal.events.filter(({ params }) => params['encoding'] === 'utf8');
  expect(texts.map(({ params }) => params['data']).join('')).toBe('ü\r\nü');
});

verifies('rexd/pty.output/slow-client', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, {
    shell: true,
    command: 'stty -echo; echo "I am $$."; read go; exec seq 1 2000000',
  });
  const greeting = await terminal.shows('.\r\n');
  const pid = Number(/(\d+)\./.exec(greeting)?.[1]);
  client.rexd.child.stdout.pause();
  client.send('pty.input', { pty_id: terminal.ptyId, data: '\r' }); // whose answer is read later, like all the rest
  let [written, unchanged] = [-1, 0];
  await until(() => {
    const now = bytesWritten(pid);
    unchanged = now === written && now > 1000 ? unchanged + 1 : 0;
    written = now;
    return unchanged > 40;
  }, 'the program to wait');
  expect(written).toBeLessThan(SEQ_BYTES);
  client.rexd.child.stdout.resume();
  await terminal.exit();
  expect(terminal.shown.length - greeting.length).toBe(SEQ_BYTES + 2_000_000); // a carriage return for each line
});

/** What `seq 1 2000000` writes. */
const SEQ_BYTES = 14_888_896;

function bytesWritten(pid: number): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1]);
}

verifies('rexd/pty.exit/last', async () => {
  await using client = await ExecClient.open();
  const ends: [string, Record<string, unknown>][] = [
    ['exit 0', { exit_code: 0, signal: null }],
    ['exit 7', { exit_code: 7, signal: null }],
    ['kill -9 $$', { exit_code: 137, signal: 'SIGKILL' }],
    ['head -c 20000 /dev/zero | tr "\\0" x; kill -TERM $$', { exit_code: 143, signal: 'SIGTERM' }],
  ];
  for (const [command, end] of ends) {
    const terminal = await Terminal.open(client, { shell: true, command });
    const exit = await terminal.exit();
    expect(exit).toEqual({
      session_id: client.sessionId,
      pty_id: terminal.ptyId,
      process_id: terminal.processId,
      timed_out: false,
      duration_ms: expect.any(Number),
      ...end,
    });
    if (command.startsWith('head')) expect(terminal.shown.length).toBe(20_000);
    await client.ask('session.info'); // whatever else was to come has come before this answer
    expect(terminal.events.filter(({ method }) => method === 'pty.exit')).toHaveLength(1);
    expect(terminal.events.at(-1)?.method).toBe('pty.exit');
  }
});

verifies('rexd/pty/process', async () => {
  await using client = await ExecClient.open();
  const cat = await Terminal.open(client, { argv: ['cat'] });
  const process_id = cat.processId;
  await client.ask('exec.input', { process_id, data: 'word\r' });
  await cat.shows('word\r\nword\r\n');
  expect(await client.ask('exec.list')).toMatchObject({
    processes: [
      { process_id, pty: true, argv: ['cat'], cwd: client.root, status: 'running', exit_code: null },
    ],
  });
  expect(await client.ask('exec.wait', { process_id, timeout_ms: 1 })).toMatchObject({ status: 'running' });
  expect(await client.ask('exec.kill', { process_id })).toEqual({ ok: true });
  expect(await cat.exit()).toMatchObject({ exit_code: 143, signal: 'SIGTERM' });
  expect(await client.ask('exec.wait', { process_id })).toMatchObject({
    status: 'killed',
    exit_code: 143,
    signal: 'SIGTERM',
    bytes_stdout: cat.shown.length,
    bytes_stderr: 0,
  });
  expect(await client.ask('exec.read', { process_id })).toMatchObject({
    data: cat.shown.toString(),
    size: cat.shown.length,
    eof: true,
  });
  expect(await client.ask('exec.read', { process_id, stream: 'stderr' })).toMatchObject({
    data: '',
    eof: true,
  });
  expect(await client.ask('exec.kill', { process_id })).toEqual({ ok: false });
});

verifies('rexd/pty/waiting', async () => {
  await using client = await ExecClient.open();
  const terminal = await Terminal.open(client, {
    shell: true,
    command: 'printf "name? "; read name; echo "hello $name."; sleep 60',
  });
  const process_id = terminal.processId;
  await terminal.shows('name? ');
  await until(
    async () => (await client.ask('exec.wait', { process_id, timeout_ms: 1 }))['waiting_for_input'] === true,
    'the program to wait for input',
  );
  expect(await client.ask('exec.list')).toMatchObject({ processes: [{ waiting_for_input: true }] });
  await terminal.type('Ada\r');
  await terminal.shows('hello Ada.');
  expect(await client.ask('exec.list')).toMatchObject({ processes: [{ waiting_for_input: false }] });
});

verifies('rexd/pty/session-close', async () => {
  await using client = await ExecClient.open();
  const session_id = await client.openSession();
  const kept = await Terminal.open(client, { argv: ['cat'] });
  const ended = await Terminal.open(client, { argv: ['sleep', '600'], session_id });
  const started = descendants(client.rexd.child.pid ?? 0).map(({ pid }) => pid);
  expect(await client.ask('session.close', { session_id })).toEqual({ ok: true });
  expect(await ended.exit()).toMatchObject({ session_id, exit_code: 129, signal: 'SIGHUP' });
  await kept.type('still here\r');
  await kept.shows('still here');
  client.send('pty.open', { argv: ['sleep', '600'] }); // on its way while the connection ends
  client.rexd.endInput();
  expect(await client.rexd.ended).toEqual({ code: 0, signal: null });
  await until(() => !started.some(isAlive), 'everyone to be gone');
});

for (const atOnce of [1, 20])
  verifies(
    'rexd/pty/descriptors',
    async () => {
      await using client = await ExecClient.open({ limits: { max_processes_per_session: 20 } });
      const server = client.rexd.child.pid ?? 0;
      const open = (): number => readdirSync(`/proc/${server}/fd`).length;
      const visit = async (i: number): Promise<void> => {
        const terminal = await Terminal.open(client, { argv: i % 2 === 0 ? ['true'] : ['cat'] });
        await (i % 2 === 0 ? terminal.exit() : terminal.close());
      };
      await Promise.all([0, 1, 2, 3].map(visit)); // what is opened once and for all
      const [before, running] = [open(), descendants(server).length];
      for (let i = 0; i < runs(260, 80); i += atOnce)
        await Promise.all(Array.from({ length: atOnce }, (_, n) => visit(i + n)));
      // The last may be on their way out; what is leaked stays.
      await until(() => open() <= before, `no more than ${before} descriptors`);
      await until(() => descendants(server).length <= running, `no more than ${running} processes`);
    },
    300_000,
  );
