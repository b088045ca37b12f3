// Whether a program waits for something to be typed: asks the kernel which call its threads are blocked in.

import { closeSync, type Dir, openSync, opendirSync, readFileSync, readSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { readFdLink, readStat, readTable } from '../process/proc-table.js';
import { parseSyscall } from './proc-syscall.js';

/** Threads looked at in one program; those that read the terminal are among the first. */
export const MAX_THREADS = 64;
/** Descriptors looked at in one call that waits for many. */
export const MAX_POLLED = 1024;

/** The descriptors from which a blocked call wants to read. */
type ListAwaited = (pid: number, args: readonly number[]) => number[];
type CallTable = Readonly<Record<number, ListAwaited>>;

const POLLIN = 1;
const POLLFD_BYTES = 8;

const inRead: ListAwaited = (_pid, [fd = -1]) => [fd];
const inPoll: ListAwaited = (pid, [list = 0, count = 0]) =>
  parsePollfds(readMemory(pid, list, Math.min(count, MAX_POLLED) * POLLFD_BYTES));
const inSelect: ListAwaited = (pid, [count = 0, readers = 0]) =>
  readers === 0 ? [] : parseFdset(readMemory(pid, readers, Math.ceil(Math.min(count, MAX_POLLED) / 8)));
const inEpoll: ListAwaited = (pid, [fd = -1]) =>
  parseEpoll(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'));

const CALLS: Readonly<Record<string, CallTable>> = {
  x64: {
    0: inRead,
    19: inRead, // readv
    7: inPoll,
    271: inPoll, // ppoll
    23: inSelect,
    270: inSelect, // pselect6
    232: inEpoll, // epoll_wait
    281: inEpoll, // epoll_pwait
    441: inEpoll, // epoll_pwait2
  },
  arm64: { 63: inRead, 65: inRead, 73: inPoll, 72: inSelect, 22: inEpoll, 441: inEpoll },
};
/** A call resumed after the program was stopped; what it waits for can no longer be seen. */
const RESTART: Readonly<Record<string, number>> = { x64: 219, arm64: 128 };

/**
 * True when a thread of the foreground group of this session waits for `terminal` to have input, whether in a read or in
 * a call that waits for several things. Undefined when the kernel does not say: another user's program (`sudo` asking
 * for a password), no /proc, a processor we have no table for.
 */
export function findWaitingReader(leader: number, terminal: string): boolean | undefined {
  const group = readStat(leader)?.foregroundGroup ?? 0;
  const calls = CALLS[process.arch];
  if (group <= 0 || calls === undefined) return undefined;
  let known = true;
  // Mostly it is the leader of the group who waits, and then nobody else has to be looked up.
  for (const pid of membersOf(group, leader)) {
    for (const thread of listThreads(pid)) {
      const waits = isWaiting(pid, thread, terminal, calls);
      if (waits === true) return true;
      if (waits === undefined) known = false;
    }
  }
  return known ? false : undefined;
}

function* membersOf(group: number, session: number): Generator<number> {
  yield group;
  for (const { pid, pgid, sid } of readTable())
    if (pgid === group && sid === session && pid !== group) yield pid;
}

function isWaiting(pid: number, thread: string, terminal: string, calls: CallTable): boolean | undefined {
  let line: string;
  try {
    line = readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1');
  } catch (error) {
    return hasEnded(error) ? false : undefined;
  }
  const call = parseSyscall(line);
  if (call === undefined) return false; // it runs
  if (call.number === RESTART[process.arch]) return undefined;
  const listAwaited = calls[call.number];
  if (listAwaited === undefined) return false;
  try {
    return listAwaited(pid, call.args).some((fd) => isTerminal(pid, fd, terminal));
  } catch (error) {
    return hasEnded(error) ? false : undefined;
  }
}

function parsePollfds(bytes: Buffer): number[] {
  const fds: number[] = [];
  for (let at = 0; at + POLLFD_BYTES <= bytes.length; at += POLLFD_BYTES)
    if ((bytes.readInt16LE(at + 4) & POLLIN) !== 0) fds.push(bytes.readInt32LE(at));
  return fds;
}

function parseFdset(bytes: Buffer): number[] {
  return [...bytes].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => (byte & (1 << bit)) !== 0).map((bit) => at * 8 + bit),
  );
}

/** Lines such as `tfd:        0 events:       19 data: …`, the events in hexadecimal. */
function parseEpoll(fdinfo: string): number[] {
  return [...fdinfo.matchAll(/^tfd:\s*(\d+)\s+events:\s*([0-9a-f]+)/gm)]
    .filter(([, , events = '0']) => (Number.parseInt(events, 16) & POLLIN) !== 0)
    .map(([, fd]) => Number(fd));
}

function isTerminal(pid: number, fd: number, terminal: string): boolean {
  const link = readFdLink(pid, fd);
  return link === terminal || link === '/dev/tty';
}

/** In the order they were started, the main one first; `readdir` would sort them by name, where 10000 is before 9999. */
function listThreads(pid: number): string[] {
  const threads: string[] = [];
  let folder: Dir | undefined;
  try {
    folder = opendirSync(`/proc/${pid}/task`);
    for (
      let each = folder.readSync();
      each !== null && threads.length < MAX_THREADS;
      each = folder.readSync()
    )
      threads.push(each.name);
  } catch {
    // It has ended meanwhile: there are no more.
  } finally {
    folder?.closeSync();
  }
  return threads;
}

function readMemory(pid: number, address: number, length: number): Buffer {
  const fd = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, address));
  } finally {
    closeSync(fd);
  }
}

function hasEnded(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOENT' || code === 'ESRCH';
}
