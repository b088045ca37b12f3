// Connections that rex keeps open between calls: used again, given back clean, gone when they should be.

import {
  cpSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_PLAIN_BYTES } from '../../src/cli/early-output.js';
import { isAlive, markedWith, running, type Running } from '../helpers/proc.js';
import { bin, type Program, run } from '../helpers/program.js';
import { removeFolder } from '../helpers/remove-folder.js';
import { type RexHome, rexHome } from '../helpers/rex.js';
import { until } from '../helpers/wait.js';

/** A home whose keeper is there and has a connection ready. */
async function warmHome(keep = '5m'): Promise<RexHome> {
  const home = rexHome(keep);
  await home.rex(['exec', 'local', '--', 'true']);
  await home.ready();
  return home;
}

/**
 * Calls until one keeper has served so many. A keeper that is not heard in time is done without, and on a busy machine that
 * may be any of them.
 */
async function untilUsed(home: RexHome, times: number, call: () => Promise<void>): Promise<void> {
  const isUsed = async (): Promise<boolean> => {
    await call();
    return (await home.kept()).some(({ alias, used }) => alias === 'local' && used >= times);
  };
  await until(isUsed, `${times} calls by one keeper`);
}

/** A call of which it is known that a keeper serves it, and which one; its first line is taken. */
async function keptCall(
  home: RexHome,
  script: string,
): Promise<AsyncDisposable & { call: Program; line: string | undefined; keeper: number }> {
  for (;;) {
    await home.ready();
    const before = await home.kept();
    const call = home.start(['exec', 'local', '--', 'sh', '-c', script]);
    const line = await call.line();
    const served = (await home.kept()).find(
      ({ pid, used }) => used > (before.find((each) => each.pid === pid)?.used ?? used),
    );
    const dispose = async (): Promise<void> => await call[Symbol.asyncDispose]();
    if (served !== undefined) return { call, line, keeper: served.pid, [Symbol.asyncDispose]: dispose };
    await dispose(); // the keeper was not heard in time
  }
}

test('the first call leaves a connection, the next ones use it, and the socket is ours alone', async () => {
  await using home = await warmHome();
  let n = 0;
  await untilUsed(home, 3, async () => {
    n += 1;
    const { stdout, code } = await home.rex(['exec', 'local', '--', 'sh', '-c', `echo ${n}; pwd; exit ${n}`]);
    expect([stdout, code]).toEqual([`${n}\n${home.folder}\n`, n]);
  });
  const folder = join(home.folder, 's/rex');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const found = readdirSync(folder).map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }));
  const sockets = found.filter((each) => each?.isSocket() === true);
  expect([...new Set(sockets.map((each) => (each?.mode ?? 0) & 0o777))]).toEqual([0o600]);
});

test('calls at the same time each have a connection of their own', async () => {
  await using home = await warmHome();
  const calls = Array.from({ length: 4 }, (_, i) =>
    home.rex(['exec', 'local', '--', 'sh', '-c', `sleep 0.3; echo ${i}`]),
  );
  expect((await Promise.all(calls)).map(({ stdout }) => stdout.trim())).toEqual(['0', '1', '2', '3']);
});

test.each([
  ['SIGKILL', null],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s of a call ends what it started, and the connection serves the next', async (signal, code) => {
  await using home = await warmHome();
  await using call = home.start(['exec', 'local', '--', 'sh', '-c', 'sleep 300 & echo $!; wait']);
  const pid = Number(await call.line());
  call.child.kill(signal);
  expect((await call.ended).code).toBe(code);
  await until(() => !isAlive(pid), 'the child to end');
  await home.ready();
  expect((await home.rex(['exec', 'local', '--', 'echo', 'on'])).stdout).toBe('on\n');
});

test('Ctrl-C over a kept connection reaches the command, and a second one kills it', async () => {
  await using home = await warmHome();
  const script = 'trap "echo no" INT; echo ready; while :; do sleep 0.1; done';
  await using call = home.start(['exec', 'local', '--', 'sh', '-c', script]);
  expect(await call.line()).toBe('ready');
  call.child.kill('SIGINT');
  expect(await call.line()).toBe('no');
  call.child.kill('SIGINT');
  expect(await call.ended).toEqual({ code: 137, signal: null });
});

test('input and output are whole over a kept connection, also more than MAX_PLAIN_BYTES', async () => {
  await using home = await warmHome();
  const input = `${'a line of input\n'.repeat(20_000)}the end\n`;
  expect(input.length).toBeGreaterThan(4 * MAX_PLAIN_BYTES);
  const { stdout, code } = await home.rex(['exec', 'local', '--', 'cat'], { input });
  expect([stdout === input, code]).toEqual([true, 0]);
  await using slow = home.start(['exec', 'local', '--', 'seq', '100000']);
  slow.endInput();
  expect((await slow.rest()).at(-1)).toBe('100000');
});

test('what a refused command is refused for is told, and nobody else can read our variables', async () => {
  await using home = await warmHome();
  const { code, stderr } = await home.rex(['exec', 'local', '--', 'no-such-program']);
  expect([code, stderr]).toEqual([1, 'rex: program not found: no-such-program\n']);
  const [kept] = await home.kept();
  expect(readFileSync(`/proc/${kept?.pid}/cmdline`, 'utf8')).not.toContain('PATH=');
});

test('kill -9 of the keeper leaves nothing running, and the next call does without', async () => {
  await using home = await warmHome();
  await using served = await keptCall(home, 'echo $$; sleep 300');
  const { call, line, keeper } = served;
  process.kill(keeper, 'SIGKILL');
  expect((await call.ended).code).toBe(1);
  expect(call.stderr).toContain('rex: ');
  await until(() => !isAlive(Number(line)), 'the command to end');
  expect((await home.rex(['exec', 'local', '--', 'echo', 'on'])).stdout).toBe('on\n');
});

test('--no-keep and REX_KEEP=0 use none and leave none', async () => {
  await using home = rexHome('5m');
  await home.rex(['--no-keep', 'exec', 'local', '--', 'true']);
  await home.rex(['exec', 'local', '--', 'true'], { env: { REX_KEEP: '0' } });
  expect(await home.kept()).toEqual([]);
});

test('a configuration that has changed is not met by an old connection', async () => {
  await using home = await warmHome();
  mkdirSync(join(home.folder, 'config/rexd'), { recursive: true });
  writeFileSync(join(home.folder, 'config/rexd/config.toml'), '[[security.allowed_roots]]\npath = "/usr"\n');
  const { code, stderr } = await home.rex(['exec', 'local', '--', 'true']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('outside')]);
});

test('a program that has changed is not met by an old connection', async () => {
  await using home = rexHome('5m');
  // A copy: the others' connections, in tests beside this one, depend on the time of the one we all use.
  const copy = join(home.folder, 'bin');
  cpSync(dirname(bin('rex')), copy, { recursive: true, preserveTimestamps: true });
  const rex = (...args: string[]) =>
    run([join(copy, 'rex.js'), ...args], { cwd: home.folder, env: home.env });
  await rex('exec', 'local', '--', 'true');
  await until(async () => (await rex('keep', '--ready')).code === 0, 'a kept connection');
  const [rexd, before] = [join(copy, 'rexd.js'), await home.kept()];
  utimesSync(rexd, new Date(), new Date(statSync(rexd).mtimeMs + 2000));
  await rex('exec', 'local', '--', 'true');
  expect(before.map(({ used }) => used)).toEqual([0]);
  expect((await home.kept()).every(({ used }) => used === 0)).toBe(true);
});

test('a keeper that nobody uses ends itself, with its connections', async () => {
  await using home = rexHome('5s');
  // Looked for from the start: whoever looks when the call is over may come too late, and it has ended already.
  const [keeper] = await Promise.all([
    until(() => keepersOf(home)[0], 'the keeper'),
    home.rex(['exec', 'local', '--', 'true']),
  ]);
  await until(() => !isAlive(keeper.pid), 'the keeper to end');
  expect(await home.kept()).toEqual([]);
});

test('keep --stop ends it, and the end of its folder too', async () => {
  await using home = await warmHome();
  expect((await home.rex(['keep', '--stop'])).stdout).toContain('stopped');
  await until(() => keepersOf(home).length === 0, 'the keeper to end');
  await home.rex(['exec', 'local', '--', 'true']);
  await home.ready();
  removeFolder(join(home.folder, 's/rex'));
  await expect(
    until(() => keepersOf(home).length === 0, 'the keeper to end without its folder'),
  ).resolves.toBe(true);
});

test('other variables are met by another keeper: a command sees what its caller has', async () => {
  await using home = await warmHome();
  const path = `${join(home.folder, 'bin')}:${process.env['PATH']}`;
  const { stdout } = await home.rex(['exec', 'local', '--', 'sh', '-c', 'echo $PATH'], {
    env: { PATH: path },
  });
  expect(stdout).toBe(`${path}\n`);
});

test('no value of a variable stands in the command line of a keeper, where everybody could read it', async () => {
  await using home = rexHome('5m');
  const env = { DEPLOY_TOKEN: 'only-for-my-eyes' };
  await home.rex(['exec', 'local', '--', 'true'], { env });
  await home.ready();
  const keepers = keepersOf(home);
  expect(keepers.length).toBeGreaterThan(0);
  expect(keepers.map(({ command }) => command).join('\n')).not.toContain(env.DEPLOY_TOKEN);
});

test('a keeper that is stopped costs a moment once, is told of, and ends when it goes on', async () => {
  await using home = await warmHome();
  const [kept] = await home.kept();
  const pid = kept?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  try {
    const { stderr, stdout } = await home.rex(['keep']);
    expect(stdout + stderr).toContain('does not answer');
    expect((await home.rex(['exec', 'local', '--', 'echo', 'on'])).stdout).toBe('on\n');
    expect(running().find((each) => each.pid === pid)?.state).toBe('T'); // it was not waited for
    await home.ready();
    expect((await home.kept()).map((each) => each.pid)).not.toContain(pid);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until(() => !isAlive(pid), 'the keeper to end');
});

test('a connection that is lost is told of with what became of the command', async () => {
  await using home = await warmHome();
  await using served = await keptCall(home, 'echo on; sleep 300');
  const { call, line, keeper } = served;
  expect(line).toBe('on');
  process.kill(keeper, 'SIGKILL');
  expect((await call.ended).code).toBe(1);
  expect(call.stderr).toMatch(/^rex: the connection to "local" was lost before the command had ended/);
});

test('the short way passes input, output, signals and codes on as the long one does', async () => {
  await using home = await warmHome();
  const input = `${'x'.repeat(3_000_000)}\n`; // more than all pipes between hold, both ways at once
  await expect(untilUsed(home, 4, () => passOn(home, input))).resolves.toBeUndefined();
});

async function passOn(home: RexHome, input: string): Promise<void> {
  const echoed = await home.rex(['exec', 'local', '--', 'cat'], { input });
  expect([echoed.stdout === input, echoed.code]).toEqual([true, 0]);
  const both = await home.rex(['exec', 'local', '--', 'sh', '-c', 'echo out; echo err >&2; kill -9 $$']);
  expect(both).toMatchObject({ stdout: 'out\n', stderr: 'err\n', code: 137 });
  const odd = ['"', '\\', '\n', '\u0001', 'ü', ''];
  const words = await home.rex(['exec', 'local', '--', 'printf', '[%s]\\n', ...odd]);
  expect(words.stdout).toBe(odd.map((word) => `[${word}]\n`).join(''));
  const missing = await home.rex(['exec', 'local', '--', 'no-such-program']);
  expect([missing.code, missing.stderr]).toEqual([1, 'rex: program not found: no-such-program\n']);
}

function keepersOf(home: RexHome): Running[] {
  return markedWith('HOME', home.folder).filter(({ command }) => command.includes('keep'));
}
