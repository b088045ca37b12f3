// What this process has started and not yet seen the end of: facts for the sweep that no mark can give.

import { errnoOf } from '../../base/errors.js';
import { isUnder } from './mark.js';
import { isDead, type ProcIdentity, readTable } from './proc-table.js';

/** Stragglers remembered at most; beyond it their mark alone has to find them. */
const MAX_STRAGGLERS = 4096;

interface Straggler extends ProcIdentity {
  readonly mark: string;
}

/** Until we reap a child its pid cannot be given to anyone else, so the pid alone says who it is. */
const leaders = new Map<number, string>();
/** Members of a session whose leader has ended; from then on only pid with start time says who they are. */
const stragglers = new Map<number, Straggler>();
/** Pipes we read from, by the name /proc shows for them: whoever holds one open is ours, marked or not. */
const pipes = new Map<string, string>();

export function addLeader(pid: number, mark: string): void {
  leaders.set(pid, mark);
}

/**
 * The leader has ended and been reaped. While its group lives on, the session's number cannot be reused, so this is
 * the last moment at which membership proves descent; asking whether it does is one system call.
 */
export function removeLeader(pid: number, maxStragglers: number = MAX_STRAGGLERS): void {
  const mark = leaders.get(pid);
  leaders.delete(pid);
  if (mark === undefined || !groupExists(pid)) return;
  const table = readTable();
  const alive = new Map(table.map((stat) => [stat.pid, stat.startTicks]));
  for (const [old, { startTicks }] of stragglers) if (alive.get(old) !== startTicks) stragglers.delete(old);
  for (const stat of table) {
    if (stat.sid !== pid || isDead(stat) || stragglers.size >= maxStragglers) continue;
    stragglers.set(stat.pid, { pid: stat.pid, startTicks: stat.startTicks, mark });
  }
}

/** One that was not started by us, or not lately: it belongs to `mark` whatever its environment says by now. */
export function addStraggler({ pid, startTicks }: ProcIdentity, mark: string): void {
  if (stragglers.size < MAX_STRAGGLERS) stragglers.set(pid, { pid, startTicks, mark });
}

export function addPipe(path: string, mark: string): void {
  pipes.set(linkOf(path), mark);
}

export function removePipe(path: string): void {
  pipes.delete(linkOf(path));
}

export function leadersUnder(prefix: string): Set<number> {
  return new Set([...leaders].filter(([, mark]) => isUnder(mark, prefix)).map(([pid]) => pid));
}

export function stragglersUnder(prefix: string): ProcIdentity[] {
  return [...stragglers.values()].filter(({ mark }) => isUnder(mark, prefix));
}

export function pipesUnder(prefix: string): Set<string> {
  return new Set([...pipes].filter(([, mark]) => isUnder(mark, prefix)).map(([link]) => link));
}

/** The pid of the leader that was started with exactly this mark, while it is not reaped. */
export function leaderOf(mark: string): number | undefined {
  for (const [pid, own] of leaders) if (own === mark) return pid;
  return undefined;
}

/** What the leader was started with, whatever has become of its environment. */
export function markOfLeader(pid: number): string | undefined {
  return leaders.get(pid);
}

function linkOf(path: string): string {
  return `${path} (deleted)`;
}

/** Asked at every exit, and mostly answered by an exception: without a stack trace it costs a tenth. */
function groupExists(pgid: number): boolean {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    process.kill(-pgid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  } finally {
    Error.stackTraceLimit = limit;
  }
}
