// Requests of resumable sessions: one that comes again under the same id is answered, not carried out, again.

import type { IncomingCall } from '../wire/jsonrpc/incoming-call.js';
import type { Sessions } from './sessions.js';

export type AnsweredCall = Pick<IncomingCall, 'id' | 'method' | 'params' | 'signal' | 'afterReply'>;

/** They have no answer worth keeping, or are meant to be sent again and again. */
const NEVER_KEPT = new Set([
  'session.open',
  'session.resume',
  'session.ack',
  'session.events',
  'session.close',
]);

export function answerOnce(
  call: AnsweredCall,
  sessions: Sessions,
  run: (signal?: AbortSignal) => unknown,
): unknown {
  const { id, method, params } = call;
  const sessionId = sessionIdOf(params);
  if (id === undefined || sessionId === undefined || NEVER_KEPT.has(method)) return run();
  const answers = sessions.find(sessionId)?.resumption?.answers;
  if (answers === undefined) return run();
  return answers.once({ id, method, params, signal: call.signal }, run);
}

/** The session that params, or a result, name. */
export function sessionIdOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { session_id: id } = value as { readonly session_id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
