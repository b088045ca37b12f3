import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { InputClosedError } from '../../../../src/host/process/input-pipe.js';
import type { LaunchError } from '../../../../src/host/process/launch-error.js';
import { loadPty } from '../../../../src/host/pty/native.js';
import { hideMasters } from '../../../../src/host/process/open-masters.js';
import { spawnProcess } from '../../../../src/host/process/spawn.js';
import { openPty } from '../../../../src/host/pty/open-pty.js';
import { HANGUP_GRACE_MS, type Pty } from '../../../../src/host/pty/pty.js';
import { assertTerminalSize, MAX_TERMINAL_SIDE } from '../../../../src/host/pty/terminal-size.js';
import { isAlive } from '../../../helpers/proc.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';
import { stopTimers } from '../../../helpers/stop-timers.js';
import { openFiles, plainEnv, readAll, readUntil } from './terminals.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const env = plainEnv();

test.each(['setsid', 'sh'] as const)(
  'with %s a program gets a terminal and job control',
  async (launcher) => {
    const script = 'tty; stty size; sleep 1000 & jobs; kill %1';
    await using pty = await openPty({ argv: ['bash', '--norc', '-ic', script], env, launcher });
    const output = (await readAll(pty)).toString();
    expect(output).toMatch(/^\/dev\/pts\/\d+\r\n32 120\r\n/);
    expect(output).toMatch(/\[1\]\+ +Running/);
    expect(output).not.toContain('job control');
  },
);

test('the environment is the one given, with a mark and a terminal type', async () => {
  const odd = { 'odd-name.1': 'kept', PATH: env['PATH'] };
  await using pty = await openPty({ argv: ['env', '-0'], env: odd });
  const lines = (await readAll(pty)).toString().split('\0').filter(Boolean);
  expect(lines.sort()).toEqual(
    [`HAWSER_MARK=${pty.mark}`, `PATH=${env['PATH']}`, 'TERM=xterm-256color', 'odd-name.1=kept'].sort(),
  );
  await using dumb = await openPty({ argv: ['printenv', 'TERM'], env: { ...odd, TERM: 'dumb' } });
  expect((await readAll(dumb)).toString()).toBe('dumb\r\n');
});

test('exit codes and signals are told apart', async () => {
  await using ended = await openPty({ argv: ['sh', '-c', 'exit 7'], env });
  await expect(ended.exited).resolves.toEqual({ code: 7, signal: null, outputHeld: false });
  await using killed = await openPty({ argv: ['sh', '-c', 'kill -9 $$'], env });
  await expect(killed.exited).resolves.toEqual({ code: null, signal: 'SIGKILL', outputHeld: false });
});

test('what cannot be started is refused by its own reason', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pty-'));
  const script = join(dir, 'script');
  writeFileSync(script, '#!/no/such/interpreter\n');
  const refused = async (argv: string[], cwd = dir): Promise<string> =>
    openPty({ argv, cwd, env }).then(
      () => 'started',
      (error: LaunchError) => error.code,
    );
  expect(await refused(['no-such-program-here'])).toBe('program_not_found');
  expect(await refused(['./missing'])).toBe('program_not_found');
  expect(await refused([script])).toBe('program_not_executable');
  chmodSync(script, 0o755);
  expect(await refused([script])).toBe('interpreter_not_found');
  expect(await refused(['true'], join(dir, 'missing'))).toBe('cwd_not_found');
  expect(await refused(['true'], script)).toBe('cwd_not_directory');
  expect(await refused([])).toBe('bad_argument');
  expect(await refused(['true', 'zero\0byte'])).toBe('bad_argument');
  removeFolder(dir);
});

test('a name without a slash is looked up in the PATH of the program', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pty-'));
  writeFileSync(join(dir, '-greet'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
  for (const launcher of ['setsid', 'sh'] as const) {
    await using pty = await openPty({ argv: ['-greet', '-c', 'hello'], env: { PATH: dir }, launcher });
    expect((await readAll(pty)).toString()).toBe('-c hello\r\n');
  }
  removeFolder(dir);
});

test('a host without the add-on refuses by a typed error', async () => {
  const missing = loadPty(() => Promise.reject(new Error('no binary for this platform')));
  await expect(missing).rejects.toMatchObject({ code: 'pty_unavailable', facts: { arch: process.arch } });
  await expect(loadPty(() => Promise.resolve({ open: 1 }))).rejects.toMatchObject({
    code: 'pty_unavailable',
  });
});

test('a program learns of a new size, and impossible sizes are refused', async () => {
  const script = 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.01; done';
  await using pty = await openPty({ argv: ['sh', '-c', script], env, cols: 90, rows: 20 });
  expect(pty.size).toEqual({ cols: 90, rows: 20 });
  await readUntil(pty, 'ready');
  expect(() => pty.resize({ cols: 0, rows: 24 })).toThrow(/1 to 65535/);
  pty.resize({ cols: 65535, rows: 1 });
  expect((await readAll(pty)).toString()).toContain('1 65535\r\n');
  await pty.exited;
  expect(() => pty.resize({ cols: 80, rows: 24 })).toThrow(/closed/);
  await expect(openPty({ argv: ['true'], env, rows: 0 })).rejects.toMatchObject({
    code: 'bad_terminal_size',
  });
});

test('a size is good when both sides are whole numbers from 1 to 65535', () => {
  const side = fc.oneof(fc.integer({ min: -2, max: MAX_TERMINAL_SIDE + 2 }), fc.double(), fc.constant(0));
  fc.assert(
    fc.property(side, side, (cols, rows) => {
      const good = [cols, rows].every((n) => Number.isInteger(n) && n >= 1 && n <= 65535);
      const refused = refuses(() => assertTerminalSize({ cols, rows }));
      expect(refused).toBe(!good);
    }),
  );
});

test('closing ends a tree that ignores HUP and TERM, in whatever group its members are', async () => {
  const script =
    'trap "" HUP TERM; set -m; sleep 1000 & (sleep 1000 & echo $!; wait) & echo $! ready; while :; do wait; done';
  const pty = await openPty({ argv: ['bash', '--norc', '-c', script], env });
  const text = await readUntil(pty, 'ready');
  const pids = [pty.pid, ...[...text.matchAll(/\d+/g)].map(Number)];
  expect(pids.every(isAlive)).toBe(true);
  await Promise.all([pty.close(), pty.close()]);
  expect(pids.some(isAlive)).toBe(false);
  await expect(pty.exited).resolves.toMatchObject({ signal: 'SIGKILL' });
  expect(openFiles('self').filter((file) => file.includes('ptmx'))).toEqual([]);
});

test('an interactive shell ends by the hang-up alone, and takes its history along', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pty-'));
  const file = join(dir, 'history');
  const pty = await openPty({
    argv: ['bash', '--norc', '-i'],
    env: { ...env, TERM: 'dumb', HISTFILE: file, PS1: '$ ' },
  });
  await readUntil(pty, '$ ');
  await pty.write(Buffer.from('echo remembered\n'));
  await readUntil(pty, '\nremembered\r\n');
  await pty.close();
  await expect(pty.exited).resolves.toMatchObject({ signal: 'SIGHUP' });
  expect(readFileSync(file, 'utf8')).toContain('echo remembered');
  removeFolder(dir);
});

test('a shell that only noted the hang-up hears it again', async () => {
  const script = 'trap "trap - HUP; echo noted" HUP; echo ready; while :; do sleep 0.01; done';
  const pty = await openPty({ argv: ['sh', '-c', script], env });
  await readUntil(pty, 'ready');
  const closing = await hangUpTwice(pty);
  await closing.done;
  await expect(pty.exited).resolves.toMatchObject({ signal: 'SIGHUP' });
});

/** The second only after the first has been noted: two that come together are one, and who is held up gets them so. */
async function hangUpTwice(pty: Pty): Promise<{ done: Promise<void> }> {
  using _ = stopTimers();
  const done = pty.close();
  await readUntil(pty, 'noted');
  vi.advanceTimersByTime(HANGUP_GRACE_MS / 2);
  return { done };
}

test('a program that ignores the hang-up is asked by TERM half a second later', async () => {
  const script = 'trap "" HUP; trap "exit 9" TERM; echo ready; while :; do sleep 0.01; done';
  const pty = await openPty({ argv: ['sh', '-c', script], env });
  await readUntil(pty, 'ready');
  const closedAtMs = performance.now();
  await pty.close();
  expect(performance.now() - closedAtMs).toBeGreaterThan(HANGUP_GRACE_MS - 2); // timers count whole milliseconds
  await expect(pty.exited).resolves.toMatchObject({ code: 9 });
});

test('a terminal held open by a leftover does not keep the end back; closing ends the leftover', async () => {
  const script = 'trap "" HUP; sleep 1000 & echo $!';
  const pty = await openPty({ argv: ['sh', '-c', script], env });
  await expect(pty.exited).resolves.toEqual({ code: 0, signal: null, outputHeld: true });
  const leftover = Number((await readAll(pty)).toString());
  expect(isAlive(leftover)).toBe(true);
  await pty.close();
  expect(isAlive(leftover)).toBe(false);
});

test('a leftover that goes on writing is cut off', async () => {
  await using pty = await openPty({ argv: ['sh', '-c', 'trap "" HUP; echo first; yes & exit 5'], env });
  await expect(pty.exited).resolves.toEqual({ code: 5, signal: null, outputHeld: true });
  expect((await pty.read(0))?.data.toString()).toMatch(/^first\r\n/);
});

test('a program that lets go of its terminal for a while is not hung up', async () => {
  const script = 'exec </dev/null >/dev/null 2>&1; sleep 0.1; echo later >/dev/tty; exit 3';
  await using pty = await openPty({ argv: ['sh', '-c', script], env });
  expect((await readAll(pty)).toString()).toBe('later\r\n');
  await expect(pty.exited).resolves.toEqual({ code: 3, signal: null, outputHeld: false });
});

test('programs do not get the ends of terminals that are ours', async () => {
  await using first = await openPty({ argv: ['cat'], env });
  await using second = await openPty({ argv: ['cat'], env });
  for (const pty of [first, second]) expect(openFiles(pty.pid).join()).not.toContain('ptmx');
  const bare = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  const hidden = spawn('cat', { stdio: hideMasters(['pipe', 'ignore', 'ignore']) });
  // Without hiding they do: the day this fails, hiding them can go.
  await until(
    () =>
      openFiles(bare.pid as number)
        .join()
        .includes('ptmx'),
    'the leak that makes hiding necessary',
  );
  await until(() => openFiles(hidden.pid as number).length > 3, 'the program to start');
  expect(openFiles(hidden.pid as number).join()).not.toContain('ptmx');
  await using ours = await spawnProcess({ argv: ['cat'], stdin: 'pipe', env });
  await until(() => openFiles(ours.pid).length > 2, 'the program to start');
  expect(openFiles(ours.pid).join()).not.toContain('ptmx');
  for (const child of [bare, hidden]) {
    child.stdin?.end();
    await once(child, 'exit');
  }
});

const TERMINALS = runs(500, 120);

test(`${TERMINALS} terminals leave no descriptor and no terminal behind`, async () => {
  const open = async (): Promise<void> => {
    await using pty = await openPty({ argv: ['true'], env });
    await pty.exited;
  };
  await open(); // whatever is opened once and for all
  const files = openFiles('self').length;
  const terminals = readdirSync('/dev/pts').length;
  for (let round = 0; round < TERMINALS / 10; round++) await Promise.all(Array.from({ length: 10 }, open));
  await until(() => openFiles('self').length <= files, 'descriptors to be closed').catch(() => {});
  expect(openFiles('self').length).toBeLessThanOrEqual(files);
  // Others on this machine open and close terminals too, but not hundreds.
  expect(readdirSync('/dev/pts').length).toBeLessThan(terminals + 100);
});

test('a launch that fails leaves nothing behind', async () => {
  await openPty({ argv: ['no-such-program'], env }).catch(() => {});
  const before = openFiles('self').length;
  for (let round = 0; round < 20; round++) {
    await expect(openPty({ argv: ['true'], env, cwd: '/no/such/place' })).rejects.toThrow('not found');
    await expect(openPty({ argv: ['no-such-program'], env })).rejects.toThrow('not found');
  }
  await until(() => openFiles('self').length <= before, 'descriptors to be closed');
});

function refuses(check: () => void): boolean {
  try {
    check();
    return false;
  } catch {
    return true;
  }
}

test('a program whose terminal is taken away is hung up, keeps what it has shown, and decides for itself', async () => {
  const script = `trap 'trap "" HUP; cat; exit 4' HUP; printf shown; while :; do sleep 0.01; done`;
  await using pty = await openPty({ argv: ['sh', '-c', script], env });
  await readUntil(pty, 'shown');
  pty.disconnect();
  pty.disconnect();
  await expect(pty.write(Buffer.from('x'))).rejects.toThrow(InputClosedError);
  expect(() => pty.resize({ cols: 80, rows: 24 })).toThrow('closed');
  expect(pty.isWaitingForInput()).toBe(false);
  await expect(pty.exited).resolves.toEqual({ code: 4, signal: null, outputHeld: false });
  expect((await readAll(pty)).toString()).toBe('shown');
});
