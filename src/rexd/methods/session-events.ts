// session.events: the events of a session for clients that can only ask.

import { RawJson } from '../../wire/jsonrpc/encode.js';
import type { ParamsOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { invalidParam, rexdError } from '../errors.js';
import type { SessionEvents } from '../protocol/session.js';
import { MAX_POLLS } from '../resume/journal.js';
import { resumptionOf } from '../resume/resumption-of.js';

/** Of one answer, unless a single event is longer: well below 1 MiB, which some clients cannot take. */
export const MAX_POLL_BYTES = 512 * 1024;
/** Of one answer: many short events make a long answer of objects on the other side. */
export const MAX_POLL_EVENTS = 1024;
/** However long a client would wait: proxies give up on a request that is silent for longer. */
export const MAX_POLL_MS = 60_000;

/** As every event begins; what follows is the event as it is told here. */
const HEAD_BYTES = '{"jsonrpc":"2.0",'.length;

export async function pollEvents(params: ParamsOf<typeof SessionEvents>, ctx: CallContext): Promise<RawJson> {
  const { journal } = resumptionOf(ctx.sessions.get(params.session_id));
  const { after } = params;
  if (!journal.reaches(after)) {
    const problem = after > journal.last ? 'there is no such event yet' : 'events after it are acknowledged';
    const data = { event_seq: journal.last, acknowledged: journal.acked };
    throw invalidParam('after', `${problem}: from ${journal.acked} to ${journal.last} is possible`, data);
  }
  journal.ack(after);
  const waiting = journal.next(after, Math.min(params.wait_ms, MAX_POLL_MS), ctx.signal);
  if (waiting === undefined) {
    const message = `${MAX_POLLS} requests wait for events of this session already`;
    throw rexdError('resource_limit', message, { limit: 'max_polls', value: MAX_POLLS });
  }
  await waiting;
  const from = Math.max(after, journal.acked); // another poll may have been further meanwhile
  return encode(journal.after(from, MAX_POLL_BYTES, MAX_POLL_EVENTS), from);
}

function encode(frames: readonly Buffer[], after: number): RawJson {
  const pieces: Buffer[] = [Buffer.from('{"events":[')];
  for (const [i, frame] of frames.entries()) {
    pieces.push(Buffer.from(i === 0 ? '{' : ',{'), frame.subarray(HEAD_BYTES, frame.length - 1));
  }
  pieces.push(Buffer.from(`],"event_seq":${after + frames.length}}`));
  return new RawJson(Buffer.concat(pieces));
}
