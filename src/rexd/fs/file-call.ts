// What every fs method does around its work: find the session, make paths absolute, keep the time, translate errors.

import { type Deadline, deadline } from '../../base/deadline.js';
import type { RootSet } from '../../host/files/root-set.js';
import type { CallContext } from '../context.js';
import { sessionNotFound } from '../errors.js';
import type { Session } from '../sessions.js';
import { toRexdError } from '../translate-error.js';

/** What work with files needs of a call. */
export interface Files {
  readonly roots: RootSet;
  /** The absolute path meant by one that may be relative to the session's folder, or to `base`. */
  readonly resolve: (path: string, base?: string) => string;
  /**
   * Aborts when the client calls off or goes away, the session ends, or its longest time is over. Made when it is asked
   * for: it costs more than a small call does, so who is done at once should not take it.
   */
  readonly signal: AbortSignal;
}

export interface FileCall extends Files {
  readonly session: Session;
}

export async function fileCall<T>(
  sessionId: string,
  ctx: CallContext,
  work: (call: FileCall) => Promise<T> | T,
): Promise<T> {
  const session = ctx.sessions.get(sessionId);
  let limit: Deadline | undefined;
  try {
    return await work({
      ...inSession(session),
      get signal() {
        limit ??= deadline(session.limits.get('hard_timeout_ms'), {
          also: [ctx.signal, session.signal],
        });
        return limit.signal;
      },
    });
  } catch (thrown) {
    if (session.closing && thrown === limit?.signal.reason) throw sessionNotFound(sessionId);
    throw toRexdError(thrown, session.roots);
  } finally {
    limit?.[Symbol.dispose]();
  }
}

/** For work that never waits: the answer goes out before the next request is looked at. */
export function fileCallAtOnce<T>(
  sessionId: string,
  ctx: CallContext,
  work: (call: Omit<FileCall, 'signal'>) => T,
): T {
  const session = ctx.sessions.get(sessionId);
  try {
    return work(inSession(session));
  } catch (thrown) {
    throw toRexdError(thrown, session.roots);
  }
}

function inSession(session: Session): Omit<FileCall, 'signal'> {
  return {
    session,
    roots: session.roots.files,
    resolve: (path, base) => session.roots.resolve(path, base ?? session.cwd ?? '/'),
  };
}
