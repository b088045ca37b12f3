// What this process has started and not yet seen the end of: facts for the sweep that no mark can give.

import { errnoOf } from '../../base/errors.js';
import { isUnder } from './mark.js';
import { isDead, type ProcIdentity, readTable } from './proc-table.js';
import { withoutTrace } from './without-trace.js';

/** Stragglers remembered at most; beyond it their mark alone has to find them. */
const MAX_STRAGGLERS = 4096;

interface Straggler extends ProcIdentity {
  readonly mark: string;
}

interface KnownLeader {
  readonly mark: string;
  readonly sinceMs: number;
  /** Whether the pid alone says who it is: until a child is reaped it cannot be given to anyone else. */
  readonly isOurs: () => boolean;
}

const leaders = new Map<number, KnownLeader>();
/** Members of a session whose leader has ended; from then on only pid with start time says who they are. */
const stragglers = new Map<number, Straggler>();
/** Pipes we read from, by the name /proc shows for them: whoever holds one open is ours, marked or not. */
const pipes = new Map<string, string>();

/** `isOurs`: for a leader that is not our own child, and may be reaped before we hear of it. */
export function addLeader(pid: number, mark: string, isOurs: () => boolean = () => true): void {
  leaders.set(pid, { mark, sinceMs: performance.now(), isOurs });
}

/**
 * The leader has ended and been reaped. While its group lives on, the session's number cannot be reused, so this is
 * the last moment at which membership proves descent; asking whether it does is one system call.
 */
export function removeLeader(pid: number, maxStragglers: number = MAX_STRAGGLERS): void {
  const mark = leaders.get(pid)?.mark;
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
  const found = new Set<number>();
  for (const [pid, { mark }] of leaders) if (isUnder(mark, prefix)) found.add(pid);
  return found;
}

/** Those of them that have lived for `ageMs`. */
export function settledLeadersUnder(prefix: string, ageMs: number): Set<number> {
  const latestMs = performance.now() - ageMs;
  const found = leadersUnder(prefix);
  for (const pid of found) if ((leaders.get(pid)?.sinceMs ?? 0) > latestMs) found.delete(pid);
  return found;
}

export function stragglersUnder(prefix: string): ProcIdentity[] {
  return [...stragglers.values()].filter(({ mark }) => isUnder(mark, prefix));
}

export function pipesUnder(prefix: string): Set<string> {
  return new Set([...pipes].filter(([, mark]) => isUnder(mark, prefix)).map(([link]) => link));
}

/** The pid of the leader that was started with exactly this mark, while it is not reaped. */
export function leaderOf(mark: string): number | undefined {
  for (const [pid, leader] of leaders) if (leader.mark === mark) return pid;
  return undefined;
}

/** False when its number may have passed to somebody else. Costs a look at /proc for some; ask before a signal. */
export function isOwnLeader(pid: number): boolean {
  return leaders.get(pid)?.isOurs() === true;
}

/** What the leader was started with, whatever has become of its environment. */
export function markOfLeader(pid: number): string | undefined {
  return leaders.get(pid)?.mark;
}

function linkOf(path: string): string {
  return `${path} (deleted)`;
}

/** Asked at every exit, and mostly answered by an exception. */
function groupExists(pgid: number): boolean {
  try {
    return withoutTrace(() => process.kill(-pgid, 0));
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}
