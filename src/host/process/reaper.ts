// Ends what hosts that died have left behind, for the case that their guardian died with them.

import { MARK_VARIABLE, type MarkHost, markHosts } from './mark.js';
import { isAlive, isDead, readPidNamespace, readTable, readVariable } from './proc-table.js';
import { sweepPrivateDirs } from './private-dir.js';
import { type StopOptions, type StopReport, SurvivorsError, stopTree } from './stop-tree.js';

export interface ReapReport {
  /** The marks of dead hosts under which someone was still alive. */
  readonly marks: readonly string[];
  /** How many processes had to be killed. */
  readonly killed: number;
  /** Processes that could not be ended: they are not ours to signal. */
  readonly survivors: readonly number[];
}

/** For the start of a daemon. Detached processes carry no host in their mark and are left alone. */
export async function reapOrphans(options: StopOptions = {}): Promise<ReapReport> {
  sweepPrivateDirs();
  const marks = [...findDeadHosts()];
  const outcomes = await Promise.all(marks.map((mark) => stopOrName(mark, options)));
  return {
    marks,
    killed: outcomes.reduce((sum, { killed }) => sum + killed, 0),
    survivors: outcomes.flatMap(({ survivors }) => survivors),
  };
}

/** The marks of hosts that are dead while someone they started, or someone below, is not. */
function findDeadHosts(): Set<string> {
  const here = readPidNamespace();
  const found = new Set<string>();
  const seen = new Map<string, boolean>();
  const isGone = (host: MarkHost): boolean => {
    const known = seen.get(host.prefix);
    // Seen from another namespace a pid says nothing: the host may well be alive there.
    const gone = known ?? (host.namespace === here && !isAlive(host));
    seen.set(host.prefix, gone);
    return gone;
  };
  for (const stat of readTable()) {
    if (isDead(stat)) continue;
    const mark = readVariable(stat.pid, MARK_VARIABLE);
    const host = mark === undefined ? undefined : markHosts(mark).find(isGone);
    if (host !== undefined) found.add(host.prefix); // the outermost: those below it are found with it
  }
  return found;
}

async function stopOrName(
  mark: string,
  options: StopOptions,
): Promise<Pick<StopReport, 'killed'> & { survivors: readonly number[] }> {
  try {
    const { killed } = await stopTree(mark, options);
    return { killed, survivors: [] };
  } catch (error) {
    if (!(error instanceof SurvivorsError)) throw error;
    return { killed: 0, survivors: error.pids };
  }
}
