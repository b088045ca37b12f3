// GET /events/stream: the events of an agent, for as long as the client stays.

import { type EventStream, openEventStream } from '../../wire/http/event-stream.js';
import type { RequestContext } from '../../wire/http/context.js';
import { ClientGoneError, HttpError } from '../../wire/http/errors.js';
import { ClosedError } from '../../base/resource.js';
import { followEvents } from '../events/follow.js';
import type { StreamedEvent } from '../protocol.js';
import type { InboxEvent } from '../services.js';
import type { AgentLives } from './agent-lives.js';
import type { EventParts } from './event-routes.js';
import { joinSignals } from './join-signals.js';
import { requireAgent } from './requests.js';
import { streamHeaders } from './sse-headers.js';

/** Streams that are open at the same time. */
export const MAX_EVENT_STREAMS = 512;

export interface StreamParts extends EventParts {
  readonly lives: AgentLives;
  readonly redeliverGraceMs: number;
  readonly pingMs: number;
}

export async function streamEvents(ctx: RequestContext<unknown>, parts: StreamParts): Promise<void> {
  const agent = requireAgent(ctx, parts.agents);
  const { inbox, stats } = parts;
  if (stats.streams >= MAX_EVENT_STREAMS)
    throw new HttpError(503, 'too_many_streams', `${MAX_EVENT_STREAMS} event streams are open already`);
  const lastEventId = ctx.req.headers['last-event-id'] ?? ctx.query.get('last_event_id');
  stats.streams += 1;
  using until = joinSignals([ctx.draining, parts.lives.signalOf(agent.id)]);
  const stream = openEventStream(ctx, {
    headers: streamHeaders(ctx.res),
    keepAliveMs: Number.POSITIVE_INFINITY, // `ping` does that
    until: until.signal,
  });
  const events = followEvents(inbox, {
    agentId: agent.id,
    signal: stream.signal,
    replay: ctx.query.get('replay') !== '0',
    redeliverGraceMs: parts.redeliverGraceMs,
    lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
  });
  const ping = setInterval(() => tell(stream, 'ping', { t: new Date().toISOString() }), parts.pingMs);
  try {
    // It watches from here on; what arrives after `ready` was said is not missed.
    let next = events.next();
    await stream.send({ event: 'ready', data: JSON.stringify({ agent_id: agent.id }) });
    for (let step = await next; step.done !== true; step = await next) {
      const { event } = step.value;
      await stream.send({ event: 'event', id: event.id, data: JSON.stringify(toWire(event)) });
      inbox.noteDelivered(event.id);
      next = events.next();
    }
  } catch (thrown) {
    if (!(thrown instanceof ClientGoneError || thrown instanceof ClosedError)) throw thrown;
  } finally {
    clearInterval(ping);
    stats.streams -= 1;
    await stream.close();
    await events.return();
  }
}

/** Into the void when the client has left: the loop above is told of it too. */
function tell(stream: EventStream, event: string, data: unknown): void {
  stream.send({ event, data: JSON.stringify(data) }).catch(() => {});
}

function toWire({ id, agentId, receivedAt, source, text, status }: InboxEvent): StreamedEvent {
  return { id, agentId, receivedAt, source, text, status };
}
