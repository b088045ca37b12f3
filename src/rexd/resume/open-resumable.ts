// session.open with `resumable`: a session that outlives its connection for a while. Loaded by whoever asks for one.

import { toError } from '../../base/errors.js';
import type { CallContext } from '../context.js';
import { rexdError } from '../errors.js';
import type { Session, SessionFacts } from '../sessions.js';
import { Resumption } from './resumption.js';

export async function openResumable(
  facts: SessionFacts,
  windowMs: number | undefined,
  ctx: CallContext,
): Promise<Session> {
  const { resume } = ctx.server;
  if (resume === undefined) throw cannotResume('server.resume_window_ms is 0');
  const resumption = new Resumption(Math.min(resume.windowMs, windowMs ?? resume.windowMs));
  const session = ctx.sessions.open({ ...facts, resumption });
  try {
    await resume.announce?.(session);
  } catch (thrown) {
    await ctx.sessions.end(session.id).catch(() => {});
    throw cannotResume(toError(thrown).message, thrown);
  }
  return session;
}

/** Whoever asks for it relies on it, so a session that would be lost with its connection is not given instead. */
function cannotResume(why: string, cause?: unknown): Error {
  const data = { capability: 'resume', reason: why };
  return rexdError(
    'unsupported_capability',
    `Sessions cannot be resumed on this server: ${why}`,
    data,
    cause,
  );
}
