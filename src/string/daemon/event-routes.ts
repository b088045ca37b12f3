// The routes of events: posting one to a webhook, following them, counting and acknowledging them.

import { isUtf8 } from 'node:buffer';
import { readBody } from '../../wire/http/body.js';
import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import { sendJson } from '../../wire/http/reply.js';
import type { AgentStore } from '../agents/agent-store.js';
import { type Inbox, InboxFullError } from '../events/inbox.js';
import type { RateLimit } from '../events/rate-limit.js';
import { MAX_WEBHOOK_BYTES } from '../protocol.js';
import { badRequest, requireAgent, shorten } from './requests.js';
import type { Stats } from './stats.js';

export interface EventParts {
  readonly agents: AgentStore;
  readonly inbox: Inbox;
  readonly rates: RateLimit;
  readonly stats: Stats;
}

/** Answers 202 only once the event is on the disk. */
export async function postEvent(ctx: RequestContext<{ token: string }>, parts: EventParts): Promise<void> {
  const { agents, inbox, stats } = parts;
  const agentId = agents.agentOfToken(ctx.params.token);
  if (agentId === undefined) {
    stats.onWebhook('unknown_token');
    throw new HttpError(401, 'unknown_token', 'Unknown webhook token');
  }
  const text = await readText(ctx, stats);
  const waitSeconds = parts.rates.take(agentId, text.length);
  if (waitSeconds > 0) {
    stats.onWebhook('rate_limited');
    throw tooMany('RATE_LIMITED', 'Too many events. Try again later.', waitSeconds);
  }
  try {
    const event = await inbox.append(agentId, text, 'local-webhook');
    stats.onWebhook('accepted');
    sendJson(ctx, 202, { ok: true, agent_id: agentId, event_id: event.id });
  } catch (thrown) {
    if (!(thrown instanceof InboxFullError)) throw thrown;
    stats.onWebhook('inbox_full');
    throw tooMany('INBOX_FULL', thrown.message);
  }
}

export function countEvents(ctx: RequestContext<unknown>, { agents, inbox }: EventParts): void {
  sendJson(ctx, 200, inbox.counts(requireAgent(ctx, agents).id));
}

export async function ackEvent(
  ctx: RequestContext<{ event_id: string }>,
  { agents, inbox }: EventParts,
): Promise<void> {
  const agent = requireAgent(ctx, agents);
  const { event_id } = ctx.params;
  if (!(await inbox.ack(agent.id, event_id)))
    throw new HttpError(404, 'not_found', `Event not found: ${shorten(event_id)}`);
  sendJson(ctx, 200, { ok: true, event_id, status: 'ack' });
}

async function readText(ctx: RequestContext<unknown>, stats: Stats): Promise<string> {
  try {
    const bytes = await readBody(ctx, { maxBytes: MAX_WEBHOOK_BYTES });
    const text = isUtf8(bytes) ? bytes.toString('utf8').trimEnd() : '';
    if (text === '') throw badRequest('Webhook body must be non-empty text');
    return text;
  } catch (thrown) {
    if (!(thrown instanceof HttpError)) throw thrown;
    stats.onWebhook('bad_body');
    if (thrown.status !== 413) throw thrown;
    const { headers } = thrown;
    throw new HttpError(413, thrown.code, `Webhook body exceeds ${MAX_WEBHOOK_BYTES} bytes`, { headers });
  }
}

function tooMany(code: string, message: string, waitSeconds?: number): HttpError {
  return new HttpError(429, code, message, {
    body: { error: code, message },
    ...(waitSeconds !== undefined && { headers: { 'Retry-After': Math.ceil(waitSeconds) } }),
  });
}
