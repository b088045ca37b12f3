// What every process of a session carries, by which all of them are found.

import { newScope } from '../../host/process/mark.js';
import type { Session } from '../sessions.js';

const marks = new WeakMap<Session, string>();

export function markOf(session: Session): string {
  let mark = marks.get(session);
  if (mark === undefined) {
    mark = newScope();
    marks.set(session, mark);
  }
  return mark;
}
