// The ladder that ends a process tree: TERM, a grace, then KILL until a sweep finds nobody.

import { constants } from 'node:os';
import { errnoOf, LocalError } from '../../base/errors.js';
import { findTree } from './find-tree.js';
import { isAlive, type ProcIdentity, type ProcStat } from './proc-table.js';
import { isOwnLeader, leadersUnder } from './roster.js';
import { nextSweep } from './sweep.js';

/** Between TERM and KILL: time to write a file to its end, but no longer than someone who asked will wait. */
export const GRACE_MS = 2000;
/** How long a killed process may take to be gone; one that waits for a broken disk or belongs to another user stays. */
export const KILL_WAIT_MS = 5000;
/** Sweeps that stop newcomers before the kill. A process that waits for its vforked child cannot be stopped at all. */
const MAX_FREEZE_ROUNDS = 8;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

const { SIGTERM, SIGKILL, SIGSTOP, SIGCONT } = constants.signals;

export interface StopOptions {
  /** Between TERM and KILL; 0 kills at once. */
  readonly graceMs?: number;
  /** Between the first KILL and giving up. */
  readonly killWaitMs?: number;
}

export interface StopReport {
  /** How many processes were told to end. */
  readonly asked: number;
  /** How many had to be killed. */
  readonly killed: number;
}

export class SurvivorsError extends LocalError {
  override readonly name = 'SurvivorsError';
  readonly pids: readonly number[];

  constructor(mark: string, pids: readonly number[]) {
    super('survivors', `${pids.length} processes could not be killed: ${pids.join(', ')}`, {
      facts: { mark, pids },
    });
    this.pids = pids;
  }
}

const ladders = new Map<string, Ladder>();

/**
 * Ends all that carries `mark` or a mark below it, or descends from one that does. Callers who come while it is under
 * way share it; the shortest grace of all of them counts. Rejects with SurvivorsError when someone cannot be killed.
 */
export function stopTree(mark: string, options: StopOptions = {}): Promise<StopReport> {
  const graceMs = options.graceMs ?? GRACE_MS;
  const running = ladders.get(mark);
  if (running !== undefined) return running.join(graceMs);
  const ladder = new Ladder(mark, graceMs, options.killWaitMs ?? KILL_WAIT_MS);
  ladders.set(mark, ladder);
  return ladder.join(graceMs);
}

/** Sends one signal to everyone of the tree. Gives the number of processes that were sent it. */
export function signalTree(mark: string, signal: number): number {
  return findTree(mark).filter((stat) => sendTo(stat, signal)).length;
}

class Ladder {
  readonly #mark: string;
  readonly #done: Promise<StopReport>;
  /** Everyone ever found: who loses parent and mark on the way is still ours. */
  readonly #known = new Map<string, ProcIdentity>();
  readonly #frozen = new Set<string>();
  readonly #killed = new Set<string>();
  readonly #killWaitMs: number;
  #killAtMs: number;
  #wake: (() => void) | undefined;

  constructor(mark: string, graceMs: number, killWaitMs: number) {
    this.#mark = mark;
    this.#killWaitMs = killWaitMs;
    this.#killAtMs = performance.now() + graceMs;
    this.#done = this.#climb().finally(() => ladders.delete(mark));
  }

  join(graceMs: number): Promise<StopReport> {
    const killAtMs = performance.now() + graceMs;
    if (killAtMs < this.#killAtMs) {
      this.#killAtMs = killAtMs;
      this.#wake?.();
    }
    return this.#done;
  }

  async #climb(): Promise<StopReport> {
    const asked = performance.now() < this.#killAtMs ? await this.#askToEnd() : 0;
    const gone = asked > 0 && (await this.#waitForGrace());
    if (!gone) await this.#killUntilGone();
    return { asked, killed: this.#killed.size };
  }

  async #askToEnd(): Promise<number> {
    const found = await this.#freeze();
    signalGroups(this.#mark, SIGTERM);
    for (const stat of found) sendTo(stat, SIGTERM);
    // All of them have it before the first of them moves again.
    for (const stat of found) sendTo(stat, SIGCONT);
    this.#frozen.clear();
    return Math.max(found.length, leadersUnder(this.#mark).size);
  }

  /** True when all have ended by themselves. */
  async #waitForGrace(): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const leftMs = this.#killAtMs - performance.now();
      if (leftMs <= 0) return false;
      await this.#pause(Math.min(pauseMs, leftMs));
      if (!this.#hasLeader() && (await this.#find()).length === 0) return true;
    }
  }

  async #killUntilGone(): Promise<void> {
    const giveUpAtMs = performance.now() + this.#killWaitMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const found = await this.#freeze();
      // A leader that is dead but not yet reaped counts: whoever waits here may look at its exit code next.
      if (found.length === 0 && signalGroups(this.#mark, SIGKILL) === 0) return;
      for (const stat of found) if (sendTo(stat, SIGKILL)) this.#killed.add(keyOf(stat));
      if (performance.now() > giveUpAtMs) {
        const pids = new Set([...found.map((stat) => stat.pid), ...leadersUnder(this.#mark)]);
        throw new SurvivorsError(this.#mark, [...pids]);
      }
      await this.#pause(pauseMs);
      if (this.#hasLeader()) await this.#pause(pauseMs); // mostly gone by then, and a sweep is spared
    }
  }

  /**
   * Stops everyone before anyone is told to end: a stopped process cannot fork, and while it is there its children
   * still name it as their parent. Otherwise a child born in between could lose its last tie to us.
   */
  async #freeze(): Promise<ProcStat[]> {
    for (let round = 1; ; round++) {
      const found = await this.#find();
      const fresh = found.filter((stat) => !this.#frozen.has(keyOf(stat)));
      if (fresh.length === 0 || round >= MAX_FREEZE_ROUNDS) return found;
      for (const stat of fresh) {
        this.#frozen.add(keyOf(stat));
        sendTo(stat, SIGSTOP);
      }
    }
  }

  /** With one sweep for all ladders that look at the same moment. */
  async #find(): Promise<ProcStat[]> {
    const found = findTree(this.#mark, this.#known.values(), await nextSweep());
    for (const stat of found) this.#known.set(keyOf(stat), stat);
    return found;
  }

  /** Far cheaper than a sweep, and as long as it is true there is no need for one. */
  #hasLeader(): boolean {
    return leadersUnder(this.#mark).size > 0;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function keyOf({ pid, startTicks }: ProcIdentity): string {
  return `${pid}.${startTicks}`;
}

/**
 * To the groups of all leaders not yet reaped; where there is no /proc, this is all we can do. Gives the number of
 * groups.
 */
function signalGroups(mark: string, signal: number): number {
  const leaders = leadersUnder(mark);
  for (const pid of leaders) {
    if (!isOwnLeader(pid)) continue;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error;
    }
  }
  return leaders.size;
}

/** Only ever to the process that was meant: the pid may have passed to someone else since it was looked up. */
function sendTo(target: ProcIdentity, signal: number): boolean {
  if (!isAlive(target)) return false;
  try {
    process.kill(target.pid, signal);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ESRCH' || errnoOf(error) === 'EPERM') return false;
    throw error;
  }
}
