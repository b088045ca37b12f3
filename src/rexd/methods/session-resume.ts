// session.resume: a session goes on on another connection, from where its client stopped.

import { INVALID_PARAMS } from '../../wire/jsonrpc/message.js';
import { RpcError } from '../../base/errors.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import { agreeOnCompression } from '../compression.js';
import type { CallContext } from '../context.js';
import { invalidParam } from '../errors.js';
import type { SessionResume } from '../protocol/session.js';

export function resumeSession(
  params: ParamsOf<typeof SessionResume>,
  ctx: CallContext,
): ResultOf<typeof SessionResume> {
  const { session_id: id, event_seq: seq } = params;
  const holder = ctx.sessions.holderOf(id);
  const session = holder?.find(id);
  const resumption = session?.resumption;
  if (holder === undefined || session === undefined || resumption?.accepts(params.token) !== true)
    throw nothingToResume(id);
  const { journal } = resumption;
  if (!journal.reaches(seq)) {
    const problem = seq > journal.last ? 'there is no such event yet' : 'events after it are acknowledged';
    const data = { event_seq: journal.last, acknowledged: journal.acked };
    throw invalidParam('event_seq', `${problem}: from ${journal.acked} to ${journal.last} is possible`, data);
  }
  // Whatever the old connection looks like: one that broke silently looks alive for minutes.
  ctx.sessions.takeOver(session, holder);
  journal.ack(seq);
  ctx.afterReply(() => {
    const { outlet } = ctx.sessions;
    if (outlet !== undefined && ctx.sessions.find(id) === session) journal.attach(outlet, seq);
  });
  return {
    session_id: id,
    event_seq: journal.last,
    window_ms: resumption.windowMs,
    ...agreeOnCompression(params.compression, ctx.compression),
  };
}

/** One answer for all that is wrong with an id or a token: nobody learns which sessions there are. */
function nothingToResume(id: string): RpcError {
  const message = 'params.session_id: no such session to resume, or another token';
  return new RpcError(INVALID_PARAMS, message, { data: { session_id: id } });
}
