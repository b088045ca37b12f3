// The process that a request names: one of the session, or a detached one that the session may see.

import { DetachedStore } from '../../host/process/detached-store.js';
import type { CallContext, ServerFacts } from '../context.js';
import type { Session } from '../sessions.js';
import { FoundProcess } from './found-process.js';
import type { SessionProcess } from './session-process.js';

/** Throws process_not_found. */
export function findProcess(ctx: CallContext, session: Session, id: string): SessionProcess {
  return session.processes.find(id) ?? findDetached(ctx, session, id) ?? session.processes.get(id);
}

/** Those of the session, then the detached ones that lie in its roots. */
export function listProcesses(ctx: CallContext, session: Session): readonly SessionProcess[] {
  const own = session.processes.all();
  const known = new Set(own.map(({ id }) => id));
  const runs = ctx.server.detachProblem === undefined ? detachedStore(ctx).list() : [];
  const found = runs.filter((run) => !known.has(run.entry.id) && session.roots.contains(run.entry.realCwd));
  return [...own, ...found.map((run) => new FoundProcess(run))];
}

const stores = new WeakMap<ServerFacts, DetachedStore>();

/** One for each server: it tells of what it does not know once, not at every look. */
export function detachedStore({ server, log }: Pick<CallContext, 'server' | 'log'>): DetachedStore {
  let store = stores.get(server);
  if (store === undefined) {
    store = new DetachedStore({
      dir: server.stateDir,
      onGarbage: (path, why) => log.warn('not a detached process of ours', { path, why }),
    });
    stores.set(server, store);
  }
  return store;
}

/** It belongs to the user and to its folder, not to a session: whoever may work in that folder may see it. */
function findDetached(ctx: CallContext, session: Session, id: string): SessionProcess | undefined {
  const run = ctx.server.detachProblem === undefined ? detachedStore(ctx).find(id) : undefined;
  if (run === undefined || !session.roots.contains(run.entry.realCwd)) return undefined;
  const process = new FoundProcess(run);
  session.processes.visit(process);
  return process;
}
