// The routes of agents and their webhooks.

import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import { sendJson } from '../../wire/http/reply.js';
import { AgentError } from '../agents/agent-store.js';
import type { AgentInfo } from '../protocol.js';
import type { Agents } from './agents.js';
import { badRequest, findAgent, readObject, textOf } from './requests.js';

export function listAgents(ctx: RequestContext<unknown>, { store }: Agents): void {
  const agents: AgentInfo[] = store
    .list()
    .map(({ id, home, allowedPaths, createdAt }) => ({ id, home, allowedPaths, createdAt }));
  sendJson(ctx, 200, { agents });
}

export async function registerAgent(ctx: RequestContext<unknown>, agents: Agents): Promise<void> {
  const { agent_id, home, allowed_paths } = (await readObject(ctx)) ?? {};
  const id = textOf(agent_id);
  if (id === undefined) throw badRequest('agent_id required');
  if (home !== undefined && home !== null && typeof home !== 'string')
    throw badRequest('home must be an absolute path');
  const given = { id, home: textOf(home), allowedPaths: pathsOf(allowed_paths) };
  const { agent, created } = await told(agents.register(given));
  sendJson(ctx, 200, { agent_id: agent.id, home: agent.home, created });
}

export async function deleteAgent(ctx: RequestContext<{ agent_id: string }>, agents: Agents): Promise<void> {
  const { agent_id } = ctx.params;
  sendJson(ctx, 200, { agent_id, deleted: await agents.remove(agent_id) });
}

export async function showWebhook(ctx: RequestContext<{ agent_id: string }>, agents: Agents): Promise<void> {
  const { id } = findAgent(ctx.params.agent_id, agents.store, 404);
  sendJson(ctx, 200, { agent_id: id, webhook_url: await agents.webhookUrl(id) });
}

export async function rotateWebhook(
  ctx: RequestContext<{ agent_id: string }>,
  agents: Agents,
): Promise<void> {
  const { id } = findAgent(ctx.params.agent_id, agents.store, 404);
  sendJson(ctx, 200, { agent_id: id, webhook_url: await agents.rotateWebhook(id) });
}

function pathsOf(given: unknown): string[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given) || !given.every((path) => typeof path === 'string'))
    throw badRequest('allowed_paths must be a list of paths');
  return given;
}

/** What cannot be registered is the caller's mistake, and the words are for the caller. */
async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    throw new HttpError(400, thrown.code, thrown.message, { cause: thrown });
  }
}
