// REXD v1: processes that outlive their session.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { gone, letGo, listed, readWhole, startWaiting, waiting } from '../kit/detached.js';
import { ExecClient } from '../kit/exec-client.js';
import { verifies } from '../kit/verifies.js';
import { isAlive } from '../../helpers/proc.js';
import { until } from '../../helpers/wait.js';

const MIB = 1024 * 1024;

verifies('rexd/detach/survives-close', async () => {
  await using client = await ExecClient.open();
  const { id, pid } = await startWaiting(client, 'echo done; exit 3');
  const attached = await client.start({ shell: true, command: 'echo $$; exec sleep 1000' });
  const attachedPid = Number(await client.output(attached, '\n'));
  await client.ask('session.close');
  expect(isAlive(attachedPid)).toBe(false);
  expect(isAlive(pid)).toBe(true);

  client.sessionId = await client.openSession();
  expect(await listed(client, id)).toMatchObject({ detached: true, pty: false, status: 'running' });
  expect(await listed(client, attached)).toBeUndefined();
  letGo(client);
  expect(await client.ask('exec.wait', { process_id: id })).toMatchObject({
    status: 'exited',
    exit_code: 3,
    signal: null,
    timed_out: false,
  });
  expect((await readWhole(client, id)).toString()).toBe(`pid ${pid}\ndone\n`);
  expect((await readWhole(client, id, 'stderr')).toString()).toBe('oops\n');
  expect(client.events(id).some((event) => event.method === 'exec.exit')).toBe(false);
});

const ENDS: readonly (readonly [string, (client: ExecClient) => unknown])[] = [
  ['the end of the input', (client) => client.rexd.endInput()],
  ['SIGTERM', (client) => client.rexd.child.kill('SIGTERM')],
  ['kill -9', (client) => client.rexd.child.kill('SIGKILL')],
];
for (const [how, end] of ENDS) {
  verifies('rexd/detach/survives-server', async () => {
    await using first = await ExecClient.open();
    const { id, pid } = await startWaiting(first, 'seq 100000; exit 5');
    const attached = await first.start({ shell: true, command: 'echo $$; exec sleep 1000' });
    const attachedPid = Number(await first.output(attached, '\n'));
    end(first);
    await first.rexd.ended;
    await gone([attachedPid]); // by then whoever ends what is left has been at work
    expect(isAlive(pid), how).toBe(true);

    await using second = await ExecClient.open({ beside: first });
    expect(await listed(second, id), how).toMatchObject({ detached: true, status: 'running' });
    expect(await second.ask('exec.wait', { process_id: id, timeout_ms: 1 })).toMatchObject({
      status: 'running',
    });
    letGo(second);
    const state = await second.ask('exec.wait', { process_id: id });
    expect(state).toMatchObject({ status: 'exited', exit_code: 5, signal: null });
    const lines = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join('');
    expect((await readWhole(second, id)).toString()).toBe(`pid ${pid}
${lines}`);
  });
}

verifies('rexd/detach/found', async () => {
  await using first = await ExecClient.open();
  const command = `head -c 700000 /dev/urandom | tee copy; ${waiting('kill -QUIT $$')}`;
  const id = await first.start({ shell: true, command, detach: true });
  await until(() => first.events(id).some((event) => event.method === 'exec.stderr'), 'it to wait');
  first.rexd.child.kill('SIGKILL');
  await first.rexd.ended;
  letGo(first);

  await using second = await ExecClient.open({ beside: first });
  expect(await second.ask('exec.wait', { process_id: id })).toMatchObject({
    status: 'killed',
    signal: 'SIGQUIT',
    exit_code: 131,
    bytes_stderr: 5,
  });
  const output = await readWhole(second, id);
  const copy = readFileSync(join(second.root, 'copy'));
  expect(output.subarray(0, copy.length).equals(copy)).toBe(true);
  expect(output.subarray(copy.length).toString()).toMatch(/^pid \d+\n$/);
  expect(await listed(second, id)).toMatchObject({
    argv: ['sh', '-c', command],
    cwd: second.root,
    detached: true,
    status: 'killed',
    exit_code: 131,
  });
  const state = join(second.rexd.grounds.state, 'rexd', 'detached', id);
  expect(statSync(state).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(state)) {
    // Whoever has written down its end clears away after that what was needed only until then.
    const found = statSync(join(state, name), { throwIfNoEntry: false });
    if (found !== undefined) expect(found.mode & 0o777, name).toBe(0o600);
  }
});

verifies('rexd/detach/killed-later', async () => {
  const tree = `
    (trap '' TERM; while :; do sleep 1000; done) & echo deaf $!
    setsid sh -c 'echo away $$; exec sleep 1000' &
    env -i sh -c 'echo bare $$; exec sleep 1000' &
    echo top $$; wait; while :; do sleep 1000; done`;
  await using first = await ExecClient.open();
  const id = await first.start({ shell: true, command: tree, detach: true });
  const text = await until(async () => {
    const all = await first.output(id, '');
    return ['deaf', 'away', 'bare', 'top'].every((name) => new RegExp(`${name} \\d+\n`).test(all)) && all;
  }, 'the tree to stand');
  const pids = [...text.matchAll(/\d+/g)].map(Number);
  first.rexd.child.kill('SIGKILL');
  await first.rexd.ended;
  await using second = await ExecClient.open({ beside: first });
  expect(pids.filter(isAlive)).toEqual(pids);
  expect(await second.ask('exec.kill', { process_id: id })).toEqual({ ok: true });
  // On its heels: what was begun is finished although nobody stays to see it.
  second.rexd.endInput();
  await second.rexd.ended;
  await gone(pids);
  await using third = await ExecClient.open({ beside: first });
  expect(await third.ask('exec.wait', { process_id: id })).toMatchObject({ status: 'killed' });
  expect(await third.ask('exec.kill', { process_id: id })).toEqual({ ok: false });
});

verifies('rexd/detach/killed-later', async () => {
  await using first = await ExecClient.open();
  // One that has lost its mark is known by who it was.
  const id = await first.start({
    argv: ['env', '-i', 'sh', '-c', 'trap "echo usr" USR1; echo $$; while :; do sleep 0.02; done'],
    detach: true,
  });
  const pid = Number(await first.output(id, '\n'));
  first.rexd.child.kill('SIGKILL');
  await first.rexd.ended;
  await using second = await ExecClient.open({ beside: first });
  expect(await second.ask('exec.kill', { process_id: id, signal: 'USR1' })).toEqual({ ok: true });
  await until(async () => (await readSoFar(second, id)).includes('usr'), 'the signal to be told of');
  expect(await second.ask('exec.kill', { process_id: id, signal: 'INT' })).toEqual({ ok: true });
  expect(await second.ask('exec.wait', { process_id: id })).toMatchObject({
    signal: 'SIGINT',
    exit_code: 130,
  });
  expect(isAlive(pid)).toBe(false);
});

async function readSoFar(client: ExecClient, id: string): Promise<string> {
  return String((await client.ask('exec.read', { process_id: id }))['data']);
}

verifies('rexd/detach/events', async () => {
  await using client = await ExecClient.open();
  const started = await client.ask('exec.start', {
    shell: true,
    command: `printf 'no newline'; ${waiting(`printf '\\377\\376'; printf 'späť' >&2; exit 0`)}`,
    detach: true,
  });
  const id = String(started['process_id']);
  await client.output(id, 'no newlinepid '); // while it runs
  expect(await client.ask('session.info')).toMatchObject({ running_processes: 1 });
  letGo(client);
  const { stdout, stderr, events, exit } = await client.finish(id);
  expect(stdout.subarray(-2)).toEqual(Buffer.of(0xff, 0xfe));
  expect(stderr.toString()).toBe('oops\nspäť');
  for (const name of ['exec.stdout', 'exec.stderr']) {
    const seqs = events.filter(({ method }) => method === name).map(({ params }) => params['seq']);
    expect(seqs).toEqual(seqs.map((_, n) => n + 1));
  }
  expect(events.at(-1)?.method).toBe('exec.exit');
  expect(exit).toMatchObject({
    exit_code: 0,
    signal: null,
    timed_out: false,
    bytes_stdout: stdout.length,
    bytes_stderr: stderr.length,
    output_limit_exceeded: false,
  });
  expect(started['pid']).toBe(Number(/pid (\d+)/.exec(stdout.toString('latin1'))?.[1]));
  expect(await client.ask('exec.wait', { process_id: id })).toMatchObject({ status: 'exited', exit_code: 0 });
});

verifies('rexd/detach/events', async () => {
  await using client = await ExecClient.open({ limits: { max_output_bytes: 64 * MIB } });
  const { stdout, exit } = await client.run({
    shell: true,
    command: 'head -c 20000000 /dev/urandom | tee copy',
    detach: true,
  });
  const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  expect(hash(stdout)).toBe(hash(readFileSync(join(client.root, 'copy'))));
  expect(exit).toMatchObject({ exit_code: 0, bytes_stdout: 20_000_000 });
});

verifies('rexd/detach/roots', async () => {
  await using client = await ExecClient.open();
  const { id, pid } = await startWaiting(client, 'exit 0');
  const { otherRoot, root } = client.rexd.grounds;
  const open = async (path: string): Promise<string> =>
    String((await client.ask('session.open', { workspace_roots: [path] }))['session_id']);
  const inside = await open(root);
  const outside = await open(otherRoot);
  const below = await open(join(root, 'sub'));
  for (const session_id of [outside, below]) {
    const { processes } = (await client.ask('exec.list', { session_id })) as { processes: unknown[] };
    expect(processes).toEqual([]);
    for (const method of ['exec.wait', 'exec.kill', 'exec.read', 'exec.input'])
      expect((await client.refused(method, { session_id, process_id: id }))?.code, method).toBe(-32005);
  }
  expect(isAlive(pid)).toBe(true);
  expect(await client.ask('exec.kill', { session_id: inside, process_id: id })).toEqual({ ok: true });
  expect((await client.finish(id)).exit).toMatchObject({ signal: 'SIGTERM' });
});

verifies('rexd/detach/input', async () => {
  await using client = await ExecClient.open();
  const given = await client.run({ argv: ['cat'], stdin: 'a\0b', detach: true });
  expect(given.stdout).toEqual(Buffer.from('a\0b'));
  const none = await client.start({ argv: ['cat'], detach: true });
  expect((await client.finish(none)).exit).toMatchObject({ exit_code: 0, bytes_stdout: 0 });
  const open = await client.start({ argv: ['cat'], stdin: 'one ', stdin_open: true, detach: true });
  await client.output(open, 'one ');
  expect(await client.ask('exec.input', { process_id: open, data: 'two' })).toEqual({ accepted_bytes: 3 });
  await client.output(open, 'two');
  await client.ask('session.close');
  client.sessionId = await client.openSession();
  expect(await client.ask('exec.wait', { process_id: open })).toMatchObject({
    status: 'exited',
    exit_code: 0,
  });
  expect((await client.refused('exec.input', { process_id: open, data: 'x' }))?.data).toMatchObject({
    reason: 'input_closed',
  });
});

verifies('rexd/detach/program', async () => {
  await using client = await ExecClient.open();
  const words = ['a b', "c'd", '', '$HOME', '`id`', '*', '\n', '-n', '"', '\\'];
  const { stdout } = await client.run({
    argv: ['node', '-p', 'JSON.stringify([process.argv.slice(1), process.env])', '--', ...words],
    env: { dir: 'mine', status: '1', IFS: 'x', QUOTED: `'"$\n`, PS4: '' },
    detach: true,
  });
  const [argv, env] = JSON.parse(stdout.toString()) as [string[], Record<string, string>];
  expect(argv).toEqual(words);
  expect(env).toMatchObject({
    dir: 'mine',
    status: '1',
    IFS: 'x',
    QUOTED: `'"$\n`,
    PS4: '',
    PWD: client.root,
  });
  expect(Object.keys(env).filter((name) => name.startsWith('hawser_'))).toEqual([]);
  const mask = await client.sh('umask; trap; ls -l /proc/self/fd | wc -l', { detach: true });
  const plain = await client.sh('umask; trap; ls -l /proc/self/fd | wc -l');
  expect(mask.stdout.toString()).toBe(plain.stdout.toString());

  const missing = await client.refused('exec.start', { argv: ['no-such-program-anywhere'], detach: true });
  expect(missing?.data).toMatchObject({ reason: 'program_not_found' });
  writeFileSync(join(client.root, 'plain'), 'text', { mode: 0o600 });
  const plainFile = await client.refused('exec.start', { argv: ['./plain'], detach: true });
  expect(plainFile?.data).toMatchObject({ reason: 'program_not_executable' });
  const odd = await client.refused('exec.start', { argv: ['true'], env: { 'a.b': '1' }, detach: true });
  expect(odd?.code).toBe(-32602);
});

verifies('rexd/detach/garbage', async () => {
  await using client = await ExecClient.open();
  const { id } = await client.run({ argv: ['echo', 'kept'], detach: true });
  const folder = join(client.rexd.grounds.state, 'rexd', 'detached');
  const name = (n: number): string => `${id.slice(0, -4)}zzz${n}`;
  const plant = (n: number, entry: string): string => {
    mkdirSync(join(folder, name(n)), { mode: 0o700 });
    writeFileSync(join(folder, name(n), 'entry.json'), entry);
    return join(folder, name(n));
  };
  plant(1, '{"half":');
  plant(2, JSON.stringify({ version: 1, id: name(2) }));
  plant(3, readFileSync(join(folder, id, 'entry.json'), 'utf8')); // another one's
  symlinkSync(join(folder, id), join(folder, name(4)));
  chmodSync(plant(5, readFileSync(join(folder, id, 'entry.json'), 'utf8').replaceAll(id, name(5))), 0o755);
  writeFileSync(join(folder, 'notes.txt'), '');
  await using second = await ExecClient.open({ beside: client });
  const { processes } = (await second.ask('exec.list')) as { processes: Record<string, unknown>[] };
  expect(processes.map((process) => process['process_id'])).toEqual([id]);
  for (let n = 1; n <= 5; n++)
    expect((await second.refused('exec.wait', { process_id: name(n) }))?.code).toBe(-32005);
  for (const strange of ['../../x', '.', '', 'notes.txt'])
    expect((await second.refused('exec.wait', { process_id: strange }))?.code).toBeLessThan(0);
  expect((await readWhole(second, id)).toString()).toBe('kept\n');
  await until(() => second.rexd.stderr.includes('not a detached process of ours'), 'a word about it');
  second.rexd.endInput();
});
