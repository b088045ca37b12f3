import { mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LOCK_TIMEOUT_MS, lockFile, SILENCE_MS, withFileLock } from '../../../../src/host/store/file-lock.js';
import {
  formatOwner,
  type LockOwner,
  lookForOwner,
  newOwner,
  parseOwner,
} from '../../../../src/host/store/lock-owner.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';
import { Programs, type Running } from './programs.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const NO_SUCH_PID = 4_194_305; // one more than the largest there can be

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(dir, 'state.json');
});
afterEach(() => {
  vi.useRealTimers();
  removeFolder(dir);
});

/** A lock as it is left by a holder that did not give it up. */
function leaveLock(change: Partial<LockOwner>): string {
  const entry = join(`${path}.lock`, formatOwner({ ...newOwner(), ...change }));
  mkdirSync(`${path}.lock`);
  writeFileSync(entry, '');
  return entry;
}

test('there is one holder at a time, and nothing is left behind', async () => {
  let inside = 0;
  const seen: number[] = [];
  const enter = (): Promise<void> =>
    withFileLock(path, async () => {
      seen.push((inside += 1));
      await new Promise(setImmediate);
      inside -= 1;
    });
  await Promise.all(Array.from({ length: 30 }, enter));
  expect(seen).toEqual(Array.from({ length: 30 }, () => 1));
  expect(readdirSync(dir)).toEqual([]);
});

test('a lock is given up when the work fails, and giving it up twice is no harm', async () => {
  await expect(withFileLock(path, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const lock = await lockFile(path);
  await Promise.all([lock.close(), lock.close()]);
  await (await lockFile(path, { timeoutMs: 60_000 })).close();
  expect(readdirSync(dir)).toEqual([]);
});

test('waiting ends at the deadline, with the name of the holder, or by the signal', async () => {
  const held = await lockFile(path);
  await expect(lockFile(path, { timeoutMs: 30 })).rejects.toMatchObject({
    code: 'lock_timeout',
    facts: { path, pid: process.pid },
  });
  const gone = new AbortController();
  const waiting = lockFile(path, { signal: gone.signal });
  gone.abort(new Error('the caller left'));
  await expect(waiting).rejects.toThrow('the caller left');
  expect(readdirSync(dir)).toEqual(['state.json.lock']);
  await held.close();
});

test('unless told otherwise it waits for 10 s', async () => {
  const held = await lockFile(path);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const settled = vi.fn<() => void>();
  const waiting = lockFile(path).catch((error: unknown) => error);
  void waiting.then(settled);
  await vi.advanceTimersByTimeAsync(LOCK_TIMEOUT_MS - 1);
  expect(settled).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await waiting).toMatchObject({ code: 'lock_timeout', facts: { timeoutMs: LOCK_TIMEOUT_MS } });
  await held.close();
});

test.each([
  ['a process that is gone', { pid: NO_SUCH_PID }],
  ['an earlier process with the pid of a living one', { startTicks: 1 }],
  ['a process from before the machine was started again', { boot: '0123456789ab' }],
])('the lock of %s is taken over', async (_who, change) => {
  leaveLock(change);
  await (await lockFile(path, { timeoutMs: 60_000 })).close();
  expect(readdirSync(dir)).toEqual([]);
});

test('a holder that cannot be seen from here is believed until it has been silent for long', async () => {
  const entry = leaveLock({ pid: NO_SUCH_PID, namespace: '1' });
  await expect(lockFile(path, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'lock_timeout' });
  const longAgo = new Date(Date.now() - SILENCE_MS - 5000);
  utimesSync(entry, longAgo, longAgo);
  await (await lockFile(path, { timeoutMs: 60_000 })).close();
  expect(readdirSync(dir)).toEqual([]);
});

test('a lock that is none of ours is never broken', async () => {
  mkdirSync(`${path}.lock`);
  writeFileSync(join(`${path}.lock`, 'by hand'), '');
  await expect(lockFile(path, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'lock_timeout' });
  expect(readdirSync(`${path}.lock`)).toEqual(['by hand']);
});

test('what dead processes left while they tried to lock goes when a lock is taken over', async () => {
  const dead = { ...newOwner(), pid: NO_SUCH_PID };
  mkdirSync(`${path}.lock.${formatOwner(dead)}`);
  const living = `state.json.lock.${formatOwner(newOwner())}`;
  mkdirSync(join(dir, living));
  leaveLock({ pid: NO_SUCH_PID });
  await (await lockFile(path)).close();
  expect(readdirSync(dir)).toEqual([living]);
});

test('a missing directory is an error at once', async () => {
  await expect(lockFile(join(dir, 'missing', 'x'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('holders killed at any moment never let two others in', async () => {
  using programs = new Programs('lock-user');
  const log = join(dir, 'log');
  writeFileSync(log, '');
  const killed = new Set<number>();
  const start = (): Running => programs.start(path, log);
  const running = Array.from({ length: 6 }, start);
  await until(() => running.every(({ lines }) => lines.length > 0), 'all to be ready');
  // As often as asked for, and on until enough of them died where it matters.
  const goesOn = (round: number): boolean =>
    round < runs(25, 8) || (round < 300 && readHistory(log, killed).diedInside <= 3);
  for (let round = 0; goesOn(round); round++) {
    const before = readFileSync(log).length;
    await until(() => readFileSync(log).length > before, 'someone to have the lock');
    // Mostly the one that has just entered, so that it dies as the holder.
    const last = readFileSync(log, 'utf8').trimEnd().split(' ').at(-1);
    const index = Math.max(
      0,
      running.findIndex(({ pid }) => pid === Number(last)),
    );
    killed.add(running[index]?.pid ?? 0);
    await running[index]?.kill();
    running[index] = start();
  }
  await Promise.all(running.map((program) => program.kill()));

  const { wrong, diedInside } = readHistory(log, killed);
  expect(wrong).toEqual([]);
  expect(diedInside).toBeGreaterThan(3);
});

/** Who was inside while another was, and how often somebody died there. */
function readHistory(log: string, killed: ReadonlySet<number>): { wrong: string[]; diedInside: number } {
  let holder: number | undefined;
  let diedInside = 0;
  const wrong: string[] = [];
  for (const line of readFileSync(log, 'utf8').trimEnd().split('\n')) {
    const [what, pid] = [line.split(' ')[0], Number(line.split(' ')[1])];
    if (what === 'leave') {
      if (holder !== pid) wrong.push(`${line}, but ${holder} was inside`);
      holder = undefined;
      continue;
    }
    if (holder !== undefined && !killed.has(holder)) wrong.push(`${line}, while ${holder} was inside`);
    if (holder !== undefined) diedInside += 1;
    holder = pid;
  }
  return { wrong, diedInside };
}

test('an owner can be read back from its name, and nothing else can', () => {
  const hex = fc.stringMatching(/^[0-9a-f]{12}$/);
  const owner = fc.record({
    pid: fc.nat(),
    startTicks: fc.maxSafeNat().map((n) => n % 10 ** 15),
    namespace: fc.nat().map(String),
    boot: hex,
    machine: hex,
    token: fc.stringMatching(/^l_[0-9a-z]{26}$/),
  });
  fc.assert(
    fc.property(owner, fc.string(), (one, text) => {
      expect(parseOwner(formatOwner(one))).toEqual(one);
      expect(parseOwner(text)).toBeUndefined();
    }),
  );
});

test('a process of this machine is known to live, one of another machine is not known', () => {
  expect(lookForOwner(newOwner())).toBe('alive');
  expect(lookForOwner({ ...newOwner(), machine: '0123456789ab', boot: '0123456789ab' })).toBe('unknown');
});
