// What detached processes stand on: the shell that stays with them, and the folder they are known by.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive, running } from '../../helpers/proc.js';
import { bin, run } from '../../helpers/program.js';
import { until } from '../../helpers/wait.js';
import { ExecClient } from '../kit/exec-client.js';
import { inTime } from '../kit/in-time.js';
import { whyNoSandbox } from '../kit/sandbox-here.js';
import { makeGrounds, skipForeign } from '../kit/target.js';
import { verifies } from '../kit/verifies.js';
import { removeFolder } from '../../helpers/remove-folder.js';

const missing = whyNoSandbox();
const MODES = missing === undefined ? ['off', 'required'] : ['off'];
if (missing !== undefined) process.stderr.write(`SKIPPED: detach in the sandbox, because ${missing}\n`);

const open = (mode: string): Promise<ExecClient> =>
  ExecClient.open({ config: { tables: ['[security.sandbox]', `mode = "${mode}"`] } });

const stateOf = (client: ExecClient, id: string): string =>
  join(client.rexd.grounds.state, 'rexd', 'detached', id);

const ODD = {
  IFS: 'x',
  PPID: '5',
  OPTIND: '7',
  PS1: 'a',
  PS4: '$(id)',
  _: 'z',
  OLDPWD: '/x',
  LINENO: '3',
  MAIL: 'm',
  hawser_dir: 'mine',
  hawser_n: '9',
  UID: '4',
  SHLVL: '6',
  SHELLOPTS: 'xtrace',
  RANDOM: 'a[$(id)]',
  ENV: '/x',
  QUOTED: `'"$\n\\`,
  TOKEN: 'swordfish',
  EMPTY: '',
  GREP_OPTIONS: '-v',
  POSIXLY_CORRECT: '1',
  LD_HINT: '1',
};

for (const mode of MODES) {
  verifies('rexd/ground/environment', async () => {
    await using client = await open(mode);
    const argv = ['node', '-p', 'JSON.stringify(process.env)'];
    const plain = await client.run({ argv, env: ODD });
    const detached = await client.run({ argv, env: ODD, detach: true });
    expect(detached.stderr.toString()).toBe('');
    const env = JSON.parse(detached.stdout.toString()) as Record<string, string>;
    expect(env).toMatchObject(ODD);
    const { HAWSER_MARK: mark, ...rest } = env;
    const { HAWSER_MARK: other, ...expected } = JSON.parse(plain.stdout.toString()) as Record<string, string>;
    expect(rest).toEqual(expected);
    expect([mark, other]).toEqual([expect.stringMatching(/d_\w+\/c_\w+\/p_\w+$/), expect.any(String)]);
  });

  verifies('rexd/ground/supervisor', async () => {
    await using client = await open(mode);
    const id = await client.start({
      argv: ['sh', '-c', 'echo up; read line'],
      env: { ...ODD, HAWSER_MARK: 'mine' },
      stdin_open: true,
      detach: true,
    });
    await client.output(id, 'up');
    const folder = stateOf(client, id);
    const [supervisor = 0] = readFileSync(join(folder, 'pid'), 'latin1').split(' ').map(Number);
    const words = (name: string): string[] =>
      readFileSync(`/proc/${supervisor}/${name}`, 'latin1').split('\0').slice(0, -1);
    expect(words('environ').map((entry) => entry.split('=')[0])).toEqual(
      expect.arrayContaining(['HAWSER_MARK', 'PATH']),
    );
    expect(words('environ')).toHaveLength(2);
    expect(words('cmdline').join('\n')).not.toContain('swordfish');
    expect(words('cmdline')).not.toContain(folder + '/run');
    const notes = ['exit.new', 'how']; // its end is written where there was room at the start
    const files = ['entry.json', 'err', ...notes, 'out', 'pid', 'stderr', 'stdout'];
    expect(readdirSync(folder).sort()).toEqual(files);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o111, name).toBe(0);
    await client.ask('exec.input', { process_id: id, data: '', eof: true });
    await client.finish(id);
  });
}

const STATE_IN_ROOT = { XDG_STATE_HOME: '{base}/app/.local/state' };

verifies('rexd/ground/withheld', async () => {
  await using client = await ExecClient.open({ env: STATE_IN_ROOT });
  const { id } = await client.run({ argv: ['echo', 'secret'], detach: true });
  const state = join(client.root, '.local/state/rexd');
  const entry = join(state, 'detached', id);
  const forged = join(state, 'detached', `${id.slice(0, -4)}zzz1`);
  const attempts: [string, Record<string, unknown>][] = [
    ['fs.read', { path: join(entry, 'entry.json') }],
    ['fs.list', { path: entry }],
    ['fs.stat', { path: join(entry, 'pid') }],
    ['fs.copy', { from: entry, to: forged, recursive: true }],
    ['fs.copy', { from: join(entry, 'stdout'), to: join(client.root, 'copy') }],
    ['fs.write', { path: join(entry, 'pid'), content: '1 1 1 1\n' }],
    ['fs.remove', { path: join(entry, 'exit') }],
    ['fs.mkdir', { path: forged }],
    ['fs.move', { from: join(client.root, '.local'), to: join(client.root, 'moved') }],
    ['fs.remove', { path: join(client.root, '.local'), recursive: true }],
    ['exec.start', { argv: ['true'], cwd: entry }],
    ['pty.open', { argv: ['true'], cwd: state }],
  ];
  for (const [method, params] of attempts) {
    const error = await client.refused(method, params);
    expect(error?.code, `${method} ${JSON.stringify(params)}`).toBe(-32002);
  }
  const { matches } = await client.ask('fs.search', { path: client.root, query: 'secret', gitignore: false });
  expect(matches).toEqual([]);
  expect(await client.refused('session.open', { workspace_roots: [state] })).toMatchObject({ code: -32002 });
  expect((await client.refused('exec.wait', { process_id: forged.split('/').at(-1) }))?.code).toBe(-32005);
  expect(await client.ask('exec.read', { process_id: id })).toMatchObject({ data: 'secret\n' });
});

verifies('rexd/ground/withheld', async () => {
  await using client = await ExecClient.open({
    env: { TMPDIR: '{base}/app' },
    limits: { max_output_bytes: 4_000_000 },
  });
  const { id } = await client.sh('head -c 3000000 /dev/zero | tr "\\0" x');
  expect((await client.ask('exec.read', { process_id: id }))['size']).toBe(3_000_000);
  const spools = readdirSync(client.root).filter((name) => name.startsWith('hawser-'));
  expect(spools).toHaveLength(1);
  const { entries } = (await client.ask('fs.list', { path: client.root })) as { entries: { name: string }[] };
  expect(entries.map(({ name }) => name)).toEqual(['sub']);
  expect((await client.refused('fs.list', { path: join(client.root, String(spools[0])) }))?.code).toBe(
    -32002,
  );
});

if (MODES.includes('required')) {
  verifies('rexd/ground/sandboxed-state', async () => {
    const sandbox = { tables: ['[security.sandbox]', 'mode = "required"'] };
    await using plain = await ExecClient.open({ env: STATE_IN_ROOT });
    const kept = await plain.run({ argv: ['echo', 'secret'], detach: true });
    const state = join(plain.root, '.local/state/rexd');
    writeFileSync(
      plain.rexd.grounds.config,
      `${readFileSync(plain.rexd.grounds.config, 'utf8')}
${sandbox.tables.join('\n')}\n`,
    );
    await using client = await ExecClient.open({ beside: plain, env: STATE_IN_ROOT });
    const look = await client.sh(`ls -A '${state}'; touch '${state}/x' && echo made`);
    expect(look.stdout.toString()).toBe('made\n'); // in a folder of its own, which is gone by now
    expect(readdirSync(state)).toEqual(['detached']);
    const refused = await client.refused('exec.start', { argv: ['true'], detach: true });
    expect(refused).toMatchObject({ code: -32007, data: { capability: 'detach' } });
    expect(refused?.message).toContain('server.state_dir');
    expect(await client.ask('exec.list')).toMatchObject({ processes: [{ process_id: look.id }] });
    expect((await client.refused('exec.kill', { process_id: kept.id }))?.code).toBe(-32005);
  });
}

verifies('rexd/ground/check', async (_transport, skip) => {
  skipForeign(skip);
  using grounds = makeGrounds();
  const check = async (state: string, ...more: string[]): Promise<string> => {
    const command = [process.execPath, bin('rexd'), '--check', '--config', grounds.config, ...more] as const;
    return (await run(command, { env: { XDG_STATE_HOME: state } })).stdout;
  };
  expect(await check(grounds.state)).toContain(`detach: allowed, kept in ${grounds.state}/rexd\n`);
  expect(await check(grounds.root)).toContain(`(in the root ${grounds.root}, but withheld from clients)`);
  const facts = JSON.parse(await check(grounds.root, '--json')) as Record<string, unknown>;
  expect(facts).toMatchObject({
    server: { state_dir: join(grounds.root, 'rexd') },
    state_dir_in_root: grounds.root,
    detach_problem: null,
  });
});

verifies('rexd/ground/timeout-unmarked', async () => {
  await using first = await ExecClient.open();
  const command = 'echo $$; sleep 1000 & echo $!; wait';
  const argv = ['env', '-i', 'sh', '-c', command];
  const { id, pids } = await inTime(400, async (timeout_ms) => {
    const started = await first.start({ argv, detach: true, timeout_ms });
    const said = await first.said(started, (text) => /^(\d+)\n(\d+)\n$/.exec(text)?.slice(1));
    return said && { id: started, pids: said.map(Number) };
  });
  first.rexd.child.kill('SIGKILL');
  await first.rexd.ended;
  await until(() => !pids.some(isAlive), 'the end of both');
  await using second = await ExecClient.open({ beside: first });
  expect(await second.ask('exec.wait', { process_id: id })).toMatchObject({
    status: 'timed_out',
    timed_out: true,
    signal: 'SIGTERM',
  });
});

verifies('rexd/ground/interpreter', async () => {
  await using client = await ExecClient.open();
  writeFileSync(join(client.root, 'bad'), '#!/nowhere/interpreter\n', { mode: 0o755 });
  for (const detach of [false, true]) {
    const refused = await client.refused('exec.start', { argv: ['./bad'], detach });
    expect(refused?.data, String(detach)).toMatchObject({ reason: 'interpreter_not_found' });
  }
  expect(readdirSync(client.rexd.grounds.base)).not.toContain('state');
});

verifies('rexd/ground/signal', async () => {
  await using client = await ExecClient.open();
  const script = 'trap "echo usr" USR1; echo up; while :; do sleep 0.02; done';
  const id = await client.start({ argv: ['env', '-i', 'sh', '-c', script], detach: true });
  await client.output(id, 'up');
  expect(await client.ask('exec.kill', { process_id: id, signal: 'USR1' })).toEqual({ ok: true });
  await client.output(id, 'usr');
  expect(await client.ask('exec.kill', { process_id: id, signal: 'INT' })).toEqual({ ok: true });
  expect((await client.finish(id)).exit).toMatchObject({ signal: 'SIGINT' });
});

verifies('rexd/ground/close', async () => {
  await using client = await ExecClient.open();
  const command = 'while :; do echo yyyyyyyyyyyyyyyyyyyy; sleep 0.01; done';
  const id = await client.start({ shell: true, command, detach: true });
  await client.output(id, 'y');
  const wait = client.send('exec.wait', { process_id: id, timeout_ms: 60_000 });
  await client.ask('session.close');
  const closed = client.log.length;
  const answer = await until(() => client.log.find((line) => 'id' in line && line.id === wait), 'the answer');
  expect(answer).toMatchObject({ result: { status: 'running', exit_code: null } });
  client.sessionId = await client.openSession();
  const bytes = async (): Promise<number> => Number((await listed(client, id))?.['bytes_stdout']);
  const before = await bytes();
  await until(async () => (await bytes()) > before + 100, 'it to go on');
  expect(client.log.slice(closed).filter((line) => 'method' in line)).toEqual([]);
  await client.ask('exec.kill', { process_id: id, signal: 'KILL' });
  await client.ask('exec.wait', { process_id: id });
});

verifies('rexd/ground/close', async () => {
  await using client = await ExecClient.open();
  const id = await client.start({ argv: ['sleep', '1000'], detach: true });
  client.send('exec.kill', { process_id: id, signal: 'KILL' });
  await client.ask('session.close');
  expect(client.events(id).map(({ method }) => method)).toEqual(['exec.exit']);
});

verifies('rexd/ground/close-while-starting', async () => {
  await using client = await ExecClient.open();
  const seconds = `1000.${process.pid}`;
  const start = client.send('exec.start', { argv: ['sleep', seconds], detach: true });
  await client.ask('session.close');
  const answer = await until(
    () => client.log.find((line) => 'id' in line && line.id === start),
    'the answer',
  );
  if ('result' in answer && answer.result !== undefined) return; // it was quicker
  await until(() => running().every(({ command }) => command !== `sleep ${seconds}`), 'it to be gone');
  const left = (): string[] => readdirSync(join(client.rexd.grounds.state, 'rexd', 'detached'));
  await until(() => left().length === 0, 'its folder to be gone');
});

verifies('rexd/ground/exceeded', async () => {
  await using first = await ExecClient.open();
  const wait = 'echo up; while [ ! -e go ]; do sleep 0.02; done';
  const command = `${wait}; head -c 6000 /dev/zero; head -c 6000 /dev/zero >&2`;
  const within = await first.start({ shell: true, command, detach: true, max_output_bytes: 10_000 });
  await first.output(within, 'up');
  const both = await first.run({
    shell: true,
    command: 'head -c 6000 /dev/zero; head -c 6000 /dev/zero >&2; sleep 1000',
    detach: true,
    max_output_bytes: 10_000,
  });
  expect(both.exit).toMatchObject({ output_limit_exceeded: true });
  first.rexd.endInput();
  await first.rexd.ended;
  writeFileSync(join(first.root, 'go'), '');
  await using second = await ExecClient.open({ beside: first });
  expect(await second.ask('exec.wait', { process_id: within })).toMatchObject({
    exit_code: 0,
    output_limit_exceeded: false,
  });
  expect(await second.ask('exec.wait', { process_id: both.id })).toMatchObject({
    output_limit_exceeded: true,
  });
});

verifies('rexd/ground/swept', async () => {
  await using client = await ExecClient.open();
  const { id } = await client.run({ argv: ['echo', 'kept'], detach: true });
  removeFolder(stateOf(client, id));
  expect(await client.refused('exec.read', { process_id: id })).toMatchObject({
    code: -32005,
    data: { process_id: id },
  });
});

verifies('rexd/ground/shortage', async (_transport, skip) => {
  if (spawnSync('prlimit', ['--version']).status !== 0) skip('prlimit is not installed');
  await using client = await ExecClient.open();
  const id = await client.start({ argv: ['sleep', '1000'], detach: true });
  const { pid = 0 } = client.rexd.child;
  const allow = (files: number): unknown => spawnSync('prlimit', [`--pid=${pid}`, `--nofile=${files}:`]);
  allow(8);
  const fromMs = Date.now();
  // What waits is looked at every second; three of them are as good as any number.
  await until(() => Date.now() - fromMs > 3000, 'some looks');
  allow(1024);
  expect(client.events(id)).toEqual([]);
  expect(await client.ask('exec.wait', { process_id: id, timeout_ms: 1 })).toMatchObject({
    status: 'running',
  });
  await client.ask('exec.kill', { process_id: id, signal: 'KILL' });
  expect((await client.finish(id)).exit).toMatchObject({ signal: 'SIGKILL' });
});

verifies('rexd/ground/watches', async () => {
  await using client = await ExecClient.open();
  const watches = (): number => {
    const folder = `/proc/${client.rexd.child.pid}/fdinfo`;
    const infos = readdirSync(folder).map((fd) => {
      try {
        return readFileSync(join(folder, fd), 'latin1');
      } catch {
        return ''; // closed while we looked
      }
    });
    return infos.join('').match(/^inotify wd/gm)?.length ?? 0;
  };
  for (let n = 0; n < 5; n++) await client.run({ argv: ['true'], detach: true });
  await until(() => watches() === 0, 'all watches to be given back');
});

async function listed(client: ExecClient, id: string): Promise<Record<string, unknown> | undefined> {
  const { processes } = (await client.ask('exec.list')) as { processes: Record<string, unknown>[] };
  const found = processes.some((process) => process['process_id'] === id);
  return found ? await client.ask('exec.wait', { process_id: id, timeout_ms: 1 }) : undefined;
}
