// Connections that rex keeps open between calls: used again, given back clean, gone when they should be.

import {
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_PLAIN_BYTES } from '../../src/cli/early-output.js';
import { isAlive, markedWith } from '../helpers/proc.js';
import { bin } from '../helpers/program.js';
import { type RexHome, rexHome } from '../helpers/rex.js';
import { until } from '../helpers/wait.js';

/** A home whose keeper is there and has a connection ready. */
async function warmHome(keep = '5m'): Promise<RexHome> {
  const home = rexHome(keep);
  await home.rex(['exec', 'local', '--', 'true']);
  await home.ready();
  return home;
}

test('the first call leaves a connection, the next ones use it, and the socket is ours alone', async () => {
  await using home = await warmHome();
  for (const n of ['1', '2', '3']) {
    const { stdout, code } = await home.rex(['exec', 'local', '--', 'sh', '-c', `echo ${n}; pwd; exit ${n}`]);
    expect([stdout, code]).toEqual([`${n}\n${home.folder}\n`, Number(n)]);
  }
  const [kept] = await home.kept();
  expect(kept).toMatchObject({ alias: 'local', used: 3 });
  const folder = join(home.folder, 's/rex');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const sockets = readdirSync(folder).map((name) => lstatSync(join(folder, name)));
  expect(sockets.filter((each) => each.isSocket()).map(({ mode }) => mode & 0o777)).toEqual([0o600]);
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
  await until(() => !isAlive(pid), 'the child to end', 5000);
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
  await using call = home.start(['exec', 'local', '--', 'sh', '-c', 'echo $$; sleep 300']);
  const pid = Number(await call.line());
  const [kept] = await home.kept();
  process.kill(kept?.pid ?? 0, 'SIGKILL');
  expect((await call.ended).code).toBe(1);
  expect(call.stderr).toContain('rex: ');
  await until(() => !isAlive(pid), 'the command to end', 5000);
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
  await using home = await warmHome();
  const before = statSync(bin('rexd'));
  utimesSync(bin('rexd'), before.atime, new Date(before.mtimeMs + 2000));
  try {
    await home.rex(['exec', 'local', '--', 'true']);
    expect((await home.kept()).map(({ used }) => used)).toContain(0);
    expect((await home.kept()).every(({ used }) => used === 0)).toBe(true);
  } finally {
    utimesSync(bin('rexd'), before.atime, before.mtime);
  }
});

test('a keeper that nobody uses ends itself, with its connections', async () => {
  await using home = rexHome('5s');
  await home.rex(['exec', 'local', '--', 'true']);
  const pid = await until(async () => (await home.kept())[0]?.pid, 'the keeper', 20_000);
  await until(() => !isAlive(pid), 'the keeper to end', 20_000);
  expect(await home.kept()).toEqual([]);
});

test('keep --stop ends it, and the end of its folder too', async () => {
  await using home = await warmHome();
  const [kept] = await home.kept();
  expect((await home.rex(['keep', '--stop'])).stdout).toContain('stopped');
  await until(() => !isAlive(kept?.pid ?? 0), 'the keeper to end');
  await home.rex(['exec', 'local', '--', 'true']);
  await home.ready();
  const [second] = await home.kept();
  await home.rex(['exec', 'local', '--', 'rm', '-rf', join(home.folder, 's/rex')]);
  await until(() => !isAlive(second?.pid ?? 0), 'the keeper to end without its folder', 10_000);
  expect(markedWith('HOME', home.folder).filter(({ command }) => command.includes('keep'))).toEqual([]);
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
  const keepers = markedWith('HOME', home.folder).filter(({ command }) => command.includes('keep'));
  expect(keepers).toHaveLength(1);
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
    const before = performance.now();
    expect((await home.rex(['exec', 'local', '--', 'echo', 'on'])).stdout).toBe('on\n');
    expect(performance.now() - before).toBeLessThan(10_000); // 1.5 s and a start, on a busy machine
    await home.ready();
    expect((await home.kept()).map((each) => each.pid)).not.toContain(pid);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await until(() => !isAlive(pid), 'the keeper to end', 10_000);
});

test('a connection that is lost is told of with what became of the command', async () => {
  await using home = await warmHome();
  const [kept] = await home.kept();
  await using call = home.start(['exec', 'local', '--', 'sh', '-c', 'echo on; sleep 300']);
  expect(await call.line()).toBe('on');
  process.kill(kept?.pid ?? 0, 'SIGKILL');
  expect((await call.ended).code).toBe(1);
  expect(call.stderr).toMatch(/^rex: the connection to "local" was lost before the command had ended/);
});

test('the short way passes input, output, signals and codes on as the long one does', async () => {
  await using home = await warmHome();
  const input = `${'x'.repeat(3_000_000)}\n`; // more than all pipes between hold, both ways at once
  const echoed = await home.rex(['exec', 'local', '--', 'cat'], { input });
  expect([echoed.stdout === input, echoed.code]).toEqual([true, 0]);
  const both = await home.rex(['exec', 'local', '--', 'sh', '-c', 'echo out; echo err >&2; kill -9 $$']);
  expect(both).toMatchObject({ stdout: 'out\n', stderr: 'err\n', code: 137 });
  const odd = ['"', '\\', '\n', '\u0001', 'ü', ''];
  const words = await home.rex(['exec', 'local', '--', 'printf', '[%s]\\n', ...odd]);
  expect(words.stdout).toBe(odd.map((word) => `[${word}]\n`).join(''));
  const missing = await home.rex(['exec', 'local', '--', 'no-such-program']);
  expect([missing.code, missing.stderr]).toEqual([1, 'rex: program not found: no-such-program\n']);
  expect((await home.kept())[0]?.used).toBeGreaterThanOrEqual(4);
});
