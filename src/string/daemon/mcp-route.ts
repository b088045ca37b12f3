// POST /mcp: the whole command surface as one tool, for whoever the header names.

import { VERSION } from '../../base/version.js';
import type { RequestContext } from '../../wire/http/context.js';
import { HttpError } from '../../wire/http/errors.js';
import { DEFAULT_AGENT } from '../../wire/stringd-defaults.js';
import { McpHttpEndpoint } from '../../mcp/http-endpoint.js';
import type { McpDefinition } from '../../mcp/server.js';
import { startBeating } from '../../mcp/beat.js';
import { bindTool, type ToolContext, type ToolResult } from '../../mcp/tool.js';
import { isAgentId } from '../agents/agent-id.js';
import { AGENT_HEADER } from '../protocol.js';
import { renderPlain } from '../result.js';
import type { AgentPlace } from '../services.js';
import { failedCall, finishedCall, StringTool, StringTools } from '../tool.js';
import type { Agents } from './agents.js';
import type { Executor } from './executor.js';
import { agentHeader, badRequest, shorten } from './requests.js';

/** Definitions kept, one for each agent; the oldest goes. */
export const MAX_MCP_DEFINITIONS = 256;

export interface McpParts {
  readonly agents: Agents;
  readonly executor: Executor;
  readonly onError: (error: Error) => void;
  readonly progressBeatMs: number;
}

export class McpRoute {
  readonly #parts: McpParts;
  readonly #endpoint: McpHttpEndpoint;
  readonly #definitions = new Map<string, McpDefinition>();

  constructor(parts: McpParts) {
    this.#parts = parts;
    this.#endpoint = new McpHttpEndpoint({ onError: parts.onError, hasPlainTools: true });
  }

  async post(ctx: RequestContext<unknown>): Promise<void> {
    const id = agentHeader(ctx) ?? DEFAULT_AGENT;
    if (!isAgentId(id)) throw badRequest(`Invalid ${AGENT_HEADER}: ${shorten(id)}`);
    if (this.#parts.agents.store.get(id) === undefined) await this.#parts.agents.register({ id });
    await this.#endpoint.post(ctx, this.#definitionOf(id));
  }

  refuse(ctx: RequestContext<unknown>): void {
    this.#endpoint.refuseMethod(ctx);
  }

  async close(): Promise<void> {
    await this.#endpoint.close();
  }

  #definitionOf(agentId: string): McpDefinition {
    const known = this.#definitions.get(agentId);
    if (known !== undefined) return known;
    const [oldest] = this.#definitions.keys();
    if (this.#definitions.size >= MAX_MCP_DEFINITIONS && oldest !== undefined)
      this.#definitions.delete(oldest);
    const tool = bindTool(StringTool, (args, ctx) => this.#call(agentId, args, ctx));
    const definition: McpDefinition = {
      name: 'string',
      title: 'String',
      version: VERSION,
      tools: new StringTools([tool]),
      onError: this.#parts.onError,
    };
    this.#definitions.set(agentId, definition);
    return definition;
  }

  async #call(
    agentId: string,
    { topic: raw, cmd }: { topic: string; cmd: string },
    ctx: ToolContext,
  ): Promise<ToolResult> {
    const { agents, executor } = this.#parts;
    const agent: AgentPlace | undefined = agents.store.get(agentId);
    const topic = executor.parseTopic(raw);
    if (agent === undefined) return failedCall('main', 'NOT_FOUND', `Unknown agent: ${agentId}`);
    if (topic === undefined) return failedCall('main', 'INVALID_TARGET', `Invalid topic: ${shorten(raw)}`);
    if (cmd.trim() === '') return failedCall(topic.name, 'INVALID_PAYLOAD', 'Empty command');
    const stop = startBeating(ctx, this.#parts.progressBeatMs);
    try {
      const outcome = await executor.execute({
        surface: 'mcp',
        agent,
        topic,
        cmd,
        whenBusy: 'refuse',
        signal: ctx.signal,
      });
      return finishedCall(outcome.topic.name, renderPlain(outcome), outcome.ok);
    } catch (thrown) {
      if (!(thrown instanceof HttpError)) throw thrown;
      return failedCall(
        topic.name,
        thrown.code === 'unknown_agent' ? 'NOT_FOUND' : thrown.code,
        thrown.message,
      );
    } finally {
      stop();
    }
  }
}
