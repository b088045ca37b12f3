// The routes of topics: listing, opening, closing.

import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import { sendJson } from '../../wire/http/reply.js';
import type { AgentStore } from '../agents/agent-store.js';
import type { SessionInfo } from '../protocol.js';
import type { Runtime } from '../runtime.js';
import { TooManyTopicsError } from '../session/sessions.js';
import type { Topic } from '../topic.js';
import type { Executor } from './executor.js';
import { badRequest, findAgent, readObject, shorten, textOf } from './requests.js';
import type { Runtimes } from './runtimes.js';
import type { TopicLanes } from './topic-lanes.js';

export interface SessionParts {
  readonly agents: AgentStore;
  readonly executor: Executor;
  readonly lanes: TopicLanes;
  readonly runtimes: Runtimes;
}

export function listSessions(ctx: RequestContext<unknown>, { lanes, runtimes }: SessionParts): void {
  const only = ctx.query.get('agent_id');
  const sessions: SessionInfo[] = [];
  for (const runtime of runtimes.all()) {
    const agent_id = runtime.agent.id;
    if (only !== null && only !== '' && only !== agent_id) continue;
    for (const { topic, topic_type, doc } of runtime.topics())
      sessions.push({ agent_id, topic, topic_type, ...lanes.stateOf(agent_id, topic), doc });
  }
  sendJson(ctx, 200, { sessions });
}

export async function openSession(ctx: RequestContext<unknown>, parts: SessionParts): Promise<void> {
  const body = (await readObject(ctx)) ?? {};
  const id = textOf(body['agent_id']);
  if (id === undefined) throw badRequest('agent_id required');
  const agent = findAgent(id, parts.agents);
  const raw = body['topic'] ?? undefined;
  const topic = raw === undefined || typeof raw === 'string' ? parts.executor.parseTopic(raw) : undefined;
  if (topic === undefined)
    throw badRequest(`Invalid topic: ${shorten(typeof raw === 'string' ? raw : JSON.stringify(raw))}`);
  const { created } = openTopic(parts.runtimes.of(agent), topic);
  sendJson(ctx, 200, { agent_id: agent.id, topic: topic.name, topic_type: topic.type, created });
}

export async function closeSession(
  ctx: RequestContext<{ agent_id: string; topic: string }>,
  { executor, runtimes }: SessionParts,
): Promise<void> {
  const { agent_id, topic: raw } = ctx.params;
  const topic = executor.parseTopic(raw);
  const deleted = topic !== undefined && (await runtimes.find(agent_id)?.closeTopic(topic)) === true;
  sendJson(ctx, 200, { agent_id, topic: topic?.name ?? raw, deleted });
}

function openTopic(runtime: Runtime, topic: Topic): { created: boolean } {
  try {
    return runtime.open(topic);
  } catch (thrown) {
    if (!(thrown instanceof TooManyTopicsError)) throw thrown;
    throw new HttpError(429, 'TOO_MANY_TOPICS', thrown.message, {
      body: { error: 'TOO_MANY_TOPICS', message: thrown.message },
    });
  }
}

export function refuseSessionPath(): never {
  throw badRequest('Expected /sessions/:agent_id/:topic');
}
