// session.ack: what has arrived need not be kept.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import type { SessionAck } from '../protocol/session.js';
import { resumptionOf } from '../resume/resumption-of.js';

export function ackEvents(
  params: ParamsOf<typeof SessionAck>,
  ctx: CallContext,
): ResultOf<typeof SessionAck> {
  const { journal, answers } = resumptionOf(ctx.sessions.get(params.session_id));
  journal.ack(params.event_seq);
  answers.ack(params.answers ?? []);
  return { event_seq: journal.acked };
}
