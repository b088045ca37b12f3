// Everyone who descends from a mark, also those who left the group, the session or their environment behind.

import { isDetachedMark, isUnder, MARK_VARIABLE, markHosts } from './mark.js';
import {
  isDead,
  type ProcIdentity,
  type ProcStat,
  readFdLink,
  readTable,
  readVariable,
} from './proc-table.js';
import { leaderOf, leadersUnder, pipesUnder, stragglersUnder } from './roster.js';

const STDOUT = 1;
const STDERR = 2;

/**
 * The living processes of a subtree. Four ways lead to a member: its mark, a parent who is one, a session that has
 * one (a session is inherited by fork alone, and every leader begins its own), or a pipe of the subtree as its output.
 * A detached process that hangs below is left out, with all that is its own. `known` are members found earlier, who
 * may have lost since what tied them to the rest.
 */
export function findTree(mark: string, known: Iterable<ProcIdentity> = []): ProcStat[] {
  const table = readTable();
  const leaders = leadersUnder(mark);
  const oldest = oldestPossible(mark, table);
  const young = table.filter((stat) => stat.startTicks >= oldest && stat.pid !== process.pid);
  const marks = new Map(young.map((stat) => [stat.pid, readVariable(stat.pid, MARK_VARIABLE)]));
  const foreign = (stat: ProcStat): boolean => {
    const own = marks.get(stat.pid);
    return own !== undefined && isDetachedMark(own) && !isUnder(own, mark);
  };
  const candidates = young.filter((stat) => !foreign(stat));

  const members = new Set<ProcStat>();
  const remembered = new Map(
    [...stragglersUnder(mark), ...known].map(({ pid, startTicks }) => [pid, startTicks]),
  );
  for (const stat of candidates) {
    const own = marks.get(stat.pid);
    if (leaders.has(stat.pid) || remembered.get(stat.pid) === stat.startTicks) members.add(stat);
    else if (own !== undefined && isUnder(own, mark)) members.add(stat);
  }
  addFamily(members, candidates, table);
  // Whoever carries a mark belongs where it says, and need not be asked for pipes.
  const unmarked = candidates.filter((stat) => marks.get(stat.pid) === undefined);
  if (addPipeHolders(members, unmarked, pipesUnder(mark))) addFamily(members, candidates, table);
  return [...members].filter((stat) => !isDead(stat));
}

/** Children are younger than their parents, which spares us the environment of all that was there before. */
function oldestPossible(mark: string, table: ProcStat[]): number {
  const leader = leaderOf(mark);
  const first = leader === undefined ? undefined : table.find((stat) => stat.pid === leader);
  return first?.startTicks ?? markHosts(mark).at(-1)?.startTicks ?? 0;
}

/** Grows `members` by children and by session until there is nobody to add. */
function addFamily(members: Set<ProcStat>, candidates: ProcStat[], table: ProcStat[]): void {
  const pids = new Set<number>();
  const sessions = new Set<number>();
  const ownSession = table.find((stat) => stat.pid === process.pid)?.sid ?? 0;
  const note = (stat: ProcStat): void => {
    pids.add(stat.pid);
    // A process that someone marked by hand may sit in our own session, or in that of the kernel's threads.
    if (stat.sid !== ownSession && stat.sid !== 0) sessions.add(stat.sid);
  };
  for (const member of members) note(member);
  for (let grew = true; grew; ) {
    grew = false;
    for (const stat of candidates) {
      if (members.has(stat) || !(pids.has(stat.ppid) || sessions.has(stat.sid))) continue;
      members.add(stat);
      note(stat);
      grew = true;
    }
  }
}

function addPipeHolders(members: Set<ProcStat>, candidates: ProcStat[], pipes: Set<string>): boolean {
  if (pipes.size === 0) return false;
  const before = members.size;
  for (const stat of candidates) {
    if (members.has(stat)) continue;
    const holds = [STDOUT, STDERR].some((fd) => pipes.has(readFdLink(stat.pid, fd) ?? ''));
    if (holds) members.add(stat);
  }
  return members.size > before;
}
