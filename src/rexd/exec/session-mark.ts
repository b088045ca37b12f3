// What every process of a session carries, by which all of them are found.

import { newConfinedScope } from '../../host/process/mark.js';
import { stopTree } from '../../host/process/stop-tree.js';
import type { Session } from '../sessions.js';

const marks = new WeakMap<Session, string>();

/** Whoever asks is about to start something: from now on the end of the session sweeps for it. */
export function markOf(session: Session): string {
  const known = marks.get(session);
  if (known !== undefined) return known;
  const mark = newConfinedScope();
  marks.set(session, mark);
  session.processes.sweepWith(() => stopTree(mark));
  return mark;
}
