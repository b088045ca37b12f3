import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  Launcher,
  MAX_LAUNCH_BYTES,
  MAX_LAUNCHERS,
  MAX_WAITING_LAUNCHES,
  readStatus,
} from '../../../../src/host/process/launcher.js';
import { chooseLaunchers } from '../../../../src/host/process/launcher-program.js';
import type { SpawnOptions } from '../../../../src/host/process/spawn.js';
import { loadProcessLayer } from '../../../helpers/launcher.js';
import { isAlive, markedWith } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const CHOICES = (['python', 'perl'] as const).filter((name) =>
  chooseLaunchers(name).some(({ path }) => existsSync(path)),
);
const HOST = fileURLToPath(new URL('../../../fixtures/process/busy-host.ts', import.meta.url));

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'launcher-')));
});
afterEach(() => removeFolder(dir));

function makeFile(name: string, text: string, mode: number): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** All that a start can go by, and all that can be wrong with it. */
function oddStarts(): Record<string, SpawnOptions> {
  mkdirSync(join(dir, 'bin'));
  mkdirSync(join(dir, 'empty'));
  symlinkSync('bin', join(dir, 'link'));
  makeFile('bin/tool', '#!/bin/sh\necho "tool $0 $*"\n', 0o755);
  makeFile('bin/bare', 'echo "bare $0 $*"\n', 0o755);
  makeFile('bin/lost', '#!/no/such/interpreter\n', 0o755);
  makeFile('bin/plain', '#!/bin/sh\necho no\n', 0o644);
  makeFile('bin/empty', '', 0o755);
  const sh = (script: string, more: Partial<SpawnOptions> = {}): SpawnOptions => ({
    argv: ['/bin/sh', '-c', script],
    ...more,
  });
  const inBin = { cwd: join(dir, 'bin'), env: { PATH: join(dir, 'bin') } };
  const variables = {
    PATH: '/usr/bin:/bin',
    EMPTY: '',
    EQUALS: 'a=b=c',
    LINES: 'one\ntwo\n',
    'odd name!': 'x',
    Ünïcode: 'schön ✓ 🜨',
    TABS: '\t \u0001\u007f',
    PERL5LIB: '/nowhere',
    PYTHONHOME: '/nowhere',
    LC_ALL: 'xx_YY',
  };
  return {
    'exit 0': sh('exit 0'),
    'exit 255': sh('exit 255'),
    'exit 137': sh('exit 137'),
    'killed by TERM': sh('kill -TERM $$'),
    'killed by KILL': sh('kill -KILL $$'),
    arguments: { argv: ['printf', '<%s>', '', ' ', 'a\nb', "'", '"$x"', '\\', '✓', '--', '-n'] },
    environment: { argv: ['env', '-0'], env: variables },
    'no environment': { argv: ['/usr/bin/env'], env: {} },
    'a variable without a name': { argv: ['/usr/bin/env'], env: { '': 'x' } },
    'a name with =': { argv: ['/usr/bin/env'], env: { 'A=B': 'C' } },
    'by name': { argv: ['tool', 'x'], env: { PATH: `/no/where:${dir}/empty:${dir}/bin:/usr/bin:/bin` } },
    'by name in the folder it runs in': {
      argv: ['tool'],
      cwd: join(dir, 'bin'),
      env: { PATH: '/no::/bin:/usr/bin' },
    },
    'by name without PATH': { argv: ['true'], env: { A: 'b' } },
    'by name behind one that may not run': { argv: ['plain'], env: { PATH: `${dir}/bin:/bin` } },
    'by relative path': { argv: ['./tool', 'a'], ...inBin, env: { PATH: '/usr/bin:/bin' } },
    'a script that does not say what runs it': { argv: [join(dir, 'bin/bare'), 'a b', ''], env: variables },
    'such a script by name': { argv: ['bare', 'x'], env: { PATH: `${dir}/bin:/bin` } },
    'an empty file': { argv: [join(dir, 'bin/empty')] },
    'a missing interpreter': { argv: [join(dir, 'bin/lost')] },
    'not executable': { argv: [join(dir, 'bin/plain')] },
    'a folder': { argv: [join(dir, 'bin')] },
    'no such program': { argv: [join(dir, 'none')] },
    'no such name': { argv: ['no-such-program-here'], env: { PATH: '/usr/bin:/bin' } },
    'a file as a folder': { argv: [join(dir, 'bin/tool/x')] },
    'no such folder': { argv: ['/bin/pwd'], cwd: join(dir, 'missing') },
    'a file as the folder': { argv: ['/bin/pwd'], cwd: join(dir, 'bin/tool') },
    'a link as the folder': { argv: ['/bin/pwd'], cwd: join(dir, 'link') },
    'our own folder': { argv: ['/bin/pwd'] },
    'a relative folder': { argv: ['/bin/pwd'], cwd: '.' },
    'an argument too long': { argv: ['/bin/true', 'x'.repeat(200_000)] },
    'arguments too long': { argv: ['/bin/true', ...Array.from({ length: 40 }, () => 'x'.repeat(120_000))] },
    'a zero byte': { argv: ['/bin/echo', 'a\0b'] },
    'a zero byte in a variable': { argv: ['/bin/echo'], env: { A: 'a\0b' } },
    'a zero byte in the folder': { argv: ['/bin/echo'], cwd: '/tmp\0' },
    'an empty name': { argv: [''] },
    input: { argv: ['cat'], stdin: Buffer.from('some\0bytes\n') },
    'input opened again': sh('cat /dev/stdin; cat <&0', { stdin: Buffer.from('abc') }),
    'no input': sh('cat; readlink /proc/self/fd/0'),
    'outputs opened again': sh('echo out > /dev/stdout; echo err > /dev/stderr'),
    'how descriptors are open': sh('for fd in 0 1 2; do grep flags /proc/self/fdinfo/$fd; done'),
    signals: sh('grep -E "^Sig(Blk|Ign|Cgt)|^ShdPnd|NoNewPrivs|Seccomp:|Cap|Umask|Groups" /proc/self/status'),
    limits: sh('cat /proc/self/limits; nice; umask; cat /proc/self/oom_score_adj /proc/self/cgroup'),
    session: sh('set -- $(cat /proc/$$/stat); [ $1 = $5 ] && [ $1 = $6 ] && echo "its own, terminal $7"'),
    'a lone surrogate': { argv: ['printf', '%s', 'a\ud800b'] },
  };
}

describe.each(CHOICES)('a launcher in %s', (choice) => {
  test('starts and refuses as Node does, in all that a program can see', async () => {
    const starts = oddStarts();
    const seen = async (mode: typeof choice | 'none') => {
      const { run } = await loadProcessLayer(mode);
      const results: Record<string, unknown> = {};
      for (const [name, options] of Object.entries(starts)) results[name] = await describeRun(run, options);
      return results;
    };
    expect(await seen(choice)).toEqual(await seen('none'));
  });

  test('tells every signal that ends a program by its name', async () => {
    const { run, launcher } = await loadProcessLayer(choice);
    const harmless = ['SIGCHLD', 'SIGCONT', 'SIGURG', 'SIGWINCH', 'SIGSTOP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU'];
    const others = new Set([...harmless, 'SIGIOT', 'SIGPOLL', 'SIGUNUSED']); // the last are other names of some
    const names = Object.keys(constants.signals).filter((name) => !others.has(name));
    const numbers = new Map<string, number>(names.map((name) => [name, constants.signals[name as 'SIGHUP']]));
    for (const [name, number] of [...numbers, ['SIGRTMIN', 34], ['SIGRTMIN+30', 64]] as const) {
      const { code, signal } = await run({ argv: ['sh', '-c', `ulimit -c 0; kill -${number} $$`] });
      expect({ code, signal }).toEqual({ code: null, signal: name });
    }
    expect(launcher.ready).toBe(true);
  });

  test('leaves no descriptor open over many starts, here or there', async () => {
    const { run, launcher } = await loadProcessLayer(choice);
    const count = (pid: number | string): number => readdirSync(`/proc/${pid}/fd`).length;
    const some = async (times: number): Promise<void> => {
      let left = times;
      const work = async (): Promise<void> => {
        while ((left -= 1) >= 0) {
          const odd = left % 50 === 0;
          await run({
            argv: [odd ? '/no/such' : '/bin/true'],
            stdin: left % 3 === 0 ? 'pipe' : 'none',
          }).catch(() => {});
        }
      };
      await Promise.all(Array.from({ length: 8 }, work));
    };
    await some(100);
    const pid = launcher.pid ?? 0;
    const before = { here: count('self'), there: count(pid) };
    await some(runs(choice === CHOICES[0] ? 2000 : 500, 200));
    expect(launcher.pid).toBe(pid);
    await until(() => count('self') <= before.here + 2, 'our descriptors to be closed');
    await until(() => count(pid) <= before.there, 'those of the launcher to be closed');
  });

  test('keeps none of the ends that it had opened for a start it has to refuse', async () => {
    const { launcher } = await loadProcessLayer(choice);
    const open = (): string => readdirSync(`/proc/${launcher.pid}/fd`).sort().join();
    const before = open();
    const given = { argv: ['/bin/true'], cwd: '/', env: [], mark: 'none', unlink: [] };
    const [there, missing] = [makeFile('there', '', 0o600), join(dir, 'missing')];
    for (const [stdin, stdout, stderr] of [
      [missing, there, there],
      [there, missing, there],
      [there, there, missing],
    ] as const) {
      expect(await launcher.launch({ ...given, stdin, stdout, stderr })).toBe('failed');
      await until(() => open() === before, 'the ends to be closed'); // it tells first
    }
    // Nor of one that it has made.
    const ends = { stdin: there, stdout: there, stderr: there, unlink: [there] };
    const made = await launcher.launch({ ...given, ...ends });
    if (typeof made !== 'object') throw new Error(`not started: ${made}`);
    await new Promise((resolve) => made.onExit(resolve));
    await until(() => open() === before, 'the ends to be closed');
  });

  test('killed at any moment it costs nobody more than the word how a program ended', async () => {
    const { run, launcher, ready } = await loadProcessLayer(choice);
    const whole = await run({ argv: ['sh', '-c', 'echo out; exit 7'] });
    const verdicts: Record<string, number> = { [judge(whole).verdict]: 1 };
    let last: number | undefined;
    for (let round = 0; round < MAX_LAUNCHERS - 1; round++) {
      const pid = await ready();
      last = pid;
      const logs = Array.from({ length: 12 }, (_, i) => join(dir, `${round}.${i}`));
      const runs = logs.map(async (log, i) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 12));
        const argv = ['sh', '-c', `echo ran >> ${log}; echo out; sleep 0.0${i % 5}; exit 7`];
        const outcome = await run({ argv }).catch((error: unknown) => error as Error & { code?: string });
        const times = existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
        return { times, ...judge(outcome) };
      });
      setTimeout(() => process.kill(pid, 'SIGKILL'), Math.random() * 15);
      for (const { verdict, times } of await Promise.all(runs)) {
        verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
        expect(times).toBeLessThanOrEqual(1); // never twice
        expect(times === 1 || verdict === 'refused').toBe(true);
      }
      await until(() => !isAlive(pid), 'the launcher to be dead');
    }
    const { known = 0, unknown = 0, refused = 0 } = verdicts;
    expect(known + unknown + refused).toBe(12 * (MAX_LAUNCHERS - 1) + 1);
    expect(known).toBeGreaterThan(0);
    // There may be the next one already, which a start behind the kill has asked for.
    await until(() => launcher.pid !== last, 'the last one to be missed');
  });

  test('whose programs it has left behind are watched and ended as before', async () => {
    const { spawnProcess, launcher } = await loadProcessLayer(choice);
    const held = await spawnProcess({
      argv: ['sh', '-c', 'echo on; read line; echo "$line"'],
      stdin: 'pipe',
    });
    const stubborn = await spawnProcess({ argv: ['sleep', '300'] });
    expect(String(await held.stdout?.read())).toBe('on\n');
    process.kill(launcher.pid ?? 0, 'SIGKILL');
    await until(() => launcher.pid === undefined, 'the end of the launcher');
    expect(held.running).toBe(true);
    await held.stdin?.writeLast(Buffer.from('more\n'));
    expect(String(await held.stdout?.read())).toBe('more\n');
    held.stdout?.discard();
    held.stderr?.discard();
    expect(await held.leaderExit).toEqual({ code: null, signal: null, unknown: true });
    expect(await stubborn.stop({ graceMs: 60_000 })).toMatchObject({ killed: 0 });
    expect(await stubborn.leaderExit).toMatchObject({ unknown: true });
    expect(isAlive(stubborn.pid)).toBe(false);
    stubborn.letGo();
  });

  test('that is stopped is told to go on', async () => {
    const { run, launcher } = await loadProcessLayer(choice);
    process.kill(launcher.pid ?? 0, 'SIGSTOP');
    expect(await run({ argv: ['echo', 'late'] })).toMatchObject({ code: 0, stdout: 'late\n' });
  });

  test('dies with its host, and so does all that it was about to start', async () => {
    const id = `launcher-test-${process.pid}-${choice}`;
    const env = { ...process.env, HAWSER_LAUNCHER: choice, HAWSER_MARK: id };
    const host = spawn(process.execPath, ['--import', 'tsx', HOST], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    });
    await once(createInterface(host.stdout), 'line');
    const names = () => markedWith('HAWSER_MARK', id).map(({ pid }) => readComm(pid));
    await until(() => names().includes('hawser-launcher'), 'the launcher to be there');
    host.kill('SIGKILL');
    await until(() => names().length === 0, 'all to be gone');
    expect(names()).toEqual([]);
  });
});

test('nobody pays for a launcher who starts a program or two', async () => {
  const { run, launcher } = await loadProcessLayer('none');
  await run({ argv: ['true'] });
  await run({ argv: ['true'] });
  const fresh = new Launcher();
  expect([launcher.pid, fresh.pid, fresh.ready]).toEqual([undefined, undefined, false]);
});

test('where there is no interpreter, or a wrong one, programs start without', async () => {
  const wrong = makeFile('interpreter', '#!/bin/sh\nexit 1\n', 0o755);
  const programs = ['/no/such/python', wrong].map((path) => ({ path, args: [], script: 'anything' }));
  const launcher = new Launcher(programs);
  const isGivenUp = (): boolean => {
    launcher.prepare();
    return launcher.launch(startOf('/bin/true')) === undefined; // one that is still being tried would have it handed over
  };
  await until(isGivenUp, 'both to have been tried');
  expect(isGivenUp()).toBe(true);
  expect([launcher.ready, launcher.pid]).toEqual([false, undefined]);
  const { run } = await loadProcessLayer('none');
  expect(await run({ argv: ['echo', 'fine'] })).toMatchObject({ code: 0, stdout: 'fine\n' });
});

test('a request larger than MAX_LAUNCH_BYTES is not for the launcher', async () => {
  const { launcher } = await loadProcessLayer(CHOICES[0] ?? 'none');
  expect(launcher.launch(startOf('/bin/true', 'x'.repeat(MAX_LAUNCH_BYTES)))).toBeUndefined();
  expect(launcher.launch(startOf('/bin/true', 'a\0b'))).toBeUndefined();
  expect(await launcher.launch(startOf('/bin/true'))).toBe('failed'); // the names of its pipes lead nowhere
});

test('beyond MAX_WAITING_LAUNCHES nobody queues up, and all are started', async () => {
  const { run, launcher } = await loadProcessLayer(CHOICES[0] ?? 'none');
  process.kill(launcher.pid ?? 0, 'SIGSTOP');
  const waiting = Array.from({ length: MAX_WAITING_LAUNCHES }, async () =>
    launcher.launch(startOf('/bin/true')),
  );
  expect(launcher.ready).toBe(false);
  expect(await run({ argv: ['echo', 'at once'] })).toMatchObject({ code: 0, stdout: 'at once\n' });
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => 'failed'));
  expect(launcher.ready).toBe(true);
});

test('after MAX_LAUNCHERS of them have died there is none any more', async () => {
  const { launcher, ready } = await loadProcessLayer(CHOICES[0] ?? 'none');
  for (let i = 0; i < MAX_LAUNCHERS; i++) {
    process.kill(await ready(), 'SIGKILL');
    await until(() => launcher.pid === undefined, 'its end to be noticed');
  }
  launcher.prepare();
  expect(launcher.launch(startOf('/bin/true'))).toBeUndefined(); // nobody is being started
  expect(launcher.pid).toBeUndefined();
});

test('what wait(2) tells is read as it is meant', () => {
  expect(readStatus(0)).toEqual({ code: 0, signal: null });
  expect(readStatus(255 << 8)).toEqual({ code: 255, signal: null });
  expect(readStatus(9)).toEqual({ code: null, signal: 'SIGKILL' });
  expect(readStatus(11 | 0x80)).toEqual({ code: null, signal: 'SIGSEGV' }); // with a core
  expect(readStatus(34)).toEqual({ code: null, signal: 'SIGRTMIN' });
});

function judge(outcome: Error | { code?: number | string | null; stdout?: string; unknown?: boolean }): {
  verdict: string;
} {
  if (outcome instanceof Error)
    return {
      verdict: 'code' in outcome && outcome.code === 'start_interrupted' ? 'refused' : outcome.message,
    };
  if (outcome.stdout !== 'out\n') return { verdict: `lost output: ${outcome.stdout}` };
  if (outcome.unknown === true) return { verdict: 'unknown' };
  return { verdict: outcome.code === 7 ? 'known' : `wrong code ${outcome.code}` };
}

function startOf(...argv: string[]) {
  const [stdout, stderr] = ['/no/such/out', '/no/such/err'];
  return { argv, cwd: '/', env: [], mark: 'm', stdin: '/dev/null', stdout, stderr, unlink: [stdout, stderr] };
}

async function describeRun(
  run: Awaited<ReturnType<typeof loadProcessLayer>>['run'],
  options: SpawnOptions,
): Promise<unknown> {
  try {
    const { code, signal, stdout, stderr } = await run(options);
    const lines = (text: string): string[] =>
      text
        .split(/[\n\0]/)
        .filter((line) => !line.startsWith('HAWSER_MARK='))
        // posix_spawn ignores the two signals that are the threading library's own.
        .map((line) => line.replace('SigIgn:\t0000000180000000', 'SigIgn:\t0000000000000000'))
        .toSorted();
    return { code, signal, stdout: lines(stdout), stderr };
  } catch (error) {
    const { name, code, message, facts } = error as Error & { code: string; facts: unknown };
    return { name, code, message, facts };
  }
}

function readComm(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
  } catch {
    return '';
  }
}
