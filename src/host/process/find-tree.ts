// Everyone who descends from a mark, also those who left the group, the session or their environment behind.

import { isConfinedMark, isDetachedMark, isUnder, markHosts } from './mark.js';
import { isDead, type ProcIdentity, type ProcStat, readFdLink } from './proc-table.js';
import { isOwnLeader, leaderOf, leadersUnder, pipesUnder, stragglersUnder } from './roster.js';
import { Sweep } from './sweep.js';

const STDOUT = 1;
const STDERR = 2;

/**
 * The living processes of a subtree. Four ways lead to a member: its mark, a parent who is one, a session that has
 * one (a session is inherited by fork alone, and every leader begins its own), or a pipe of the subtree as its output.
 * A detached process that hangs below is left out, with all that is its own: a host of the subtree has started it. But
 * whoever hangs below a confined member is one too, whatever its mark says. `known` are members found earlier, who may
 * have lost since what tied them to the rest.
 */
export function findTree(
  mark: string,
  known: Iterable<ProcIdentity> = [],
  sweep: Sweep = new Sweep(),
): ProcStat[] {
  const { table } = sweep;
  const leaders = leadersUnder(mark);
  const oldest = oldestPossible(mark, table);
  const young = table.filter((stat) => stat.startTicks >= oldest && stat.pid !== process.pid);
  const confinedHere = isConfinedMark(mark);
  const detached = (stat: ProcStat): boolean => {
    const own = sweep.markOf(stat.pid);
    return own !== undefined && isDetachedMark(own) && !isUnder(own, mark);
  };

  const family = new Family(table, detached);
  const remembered = new Map(
    [...stragglersUnder(mark), ...known].map(({ pid, startTicks }) => [pid, startTicks]),
  );
  for (const stat of young) {
    const own = sweep.markOf(stat.pid);
    if (own !== undefined && isUnder(own, mark)) family.add(stat, isConfinedMark(own));
    else if ((leaders.has(stat.pid) && isOwnLeader(stat.pid)) || remembered.get(stat.pid) === stat.startTicks)
      family.add(stat, confinedHere);
  }
  family.grow(young);
  // Whoever carries a mark belongs where it says, and need not be asked for pipes; unless it may have written it itself.
  const asked = young.filter((stat) => confinedHere || sweep.markOf(stat.pid) === undefined);
  if (family.addHolders(asked, pipesUnder(mark), confinedHere)) family.grow(young);
  return [...family.members].filter((stat) => !isDead(stat));
}

/** Children are younger than their parents, which spares us the environment of all that was there before. */
function oldestPossible(mark: string, table: readonly ProcStat[]): number {
  const leader = leaderOf(mark);
  const first = leader === undefined ? undefined : table.find((stat) => stat.pid === leader);
  return first?.startTicks ?? markHosts(mark).at(-1)?.startTicks ?? 0;
}

class Family {
  readonly members = new Set<ProcStat>();
  readonly #detached: (stat: ProcStat) => boolean;
  readonly #ownSession: number;
  /** By pid and by session: whether the members there are confined. */
  readonly #pids = new Map<number, boolean>();
  readonly #sessions = new Map<number, boolean>();

  constructor(table: readonly ProcStat[], detached: (stat: ProcStat) => boolean) {
    this.#detached = detached;
    this.#ownSession = table.find((stat) => stat.pid === process.pid)?.sid ?? 0;
  }

  add(stat: ProcStat, confined: boolean): void {
    this.members.add(stat);
    this.#pids.set(stat.pid, confined);
    // A process that someone marked by hand may sit in our own session, or in that of the kernel's threads.
    if (stat.sid === this.#ownSession || stat.sid === 0) return;
    this.#sessions.set(stat.sid, confined || this.#sessions.get(stat.sid) === true);
  }

  /** Adds children and members of the same sessions until there is nobody to add. */
  grow(candidates: readonly ProcStat[]): void {
    for (let grew = true; grew; ) {
      grew = false;
      for (const stat of candidates) {
        if (this.members.has(stat)) continue;
        const parent = this.#pids.get(stat.ppid);
        const fellow = this.#sessions.get(stat.sid);
        if (parent === undefined && fellow === undefined) continue;
        const confined = parent === true || fellow === true;
        if (!confined && this.#detached(stat)) continue;
        this.add(stat, confined);
        grew = true;
      }
    }
  }

  /** True when there were any. */
  addHolders(candidates: readonly ProcStat[], pipes: ReadonlySet<string>, confined: boolean): boolean {
    if (pipes.size === 0) return false;
    const before = this.members.size;
    for (const stat of candidates) {
      if (this.members.has(stat)) continue;
      const holds = [STDOUT, STDERR].some((fd) => pipes.has(readFdLink(stat.pid, fd) ?? ''));
      if (holds) this.add(stat, confined);
    }
    return this.members.size > before;
  }
}
