// Both eras of MCP from one definition: the `initialize` era, up to 2025-11-25, and the stateless one of 2026-07-28.
//
// The SDK is a third of a megabyte: only serving loads it.

import type * as Sdk from '@modelcontextprotocol/server';
import type { McpServer, McpServerFactory, ServerContext } from '@modelcontextprotocol/server';
import { RpcError, toError } from '../base/errors.js';
import { toJsonSchema } from './json-schema.js';
import { capabilitiesOf, type McpMethods, methodsOf } from './method.js';
import type { Prompt } from './prompt.js';
import {
  type ToolAnswers,
  type ToolContext,
  type ToolDefinition,
  type ToolNeeds,
  toWireResult,
} from './tool.js';
import { type ToolTable, UnknownToolError } from './tool-table.js';

export interface McpDefinition {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  /** For the model, once per conversation: what the tools have in common. */
  readonly instructions?: string;
  readonly tools: ToolTable;
  readonly prompts?: readonly Prompt[];
  /** Further requests that are answered; those of MCP go before ours of the same name. */
  readonly methods?: McpMethods;
  /** What they are announced by. */
  readonly capabilities?: Readonly<Record<string, object>>;
  /** Capabilities that no revision of MCP has, by their names. */
  readonly experimental?: Readonly<Record<string, object>>;
  /** A client of the `initialize` era has come, and may be told things that it has not asked for. Later ones may not. */
  readonly onInitialized?: (notify: McpNotify) => void;
  /** Out of band: what went wrong that no answer could tell. */
  readonly onError?: (error: Error) => void;
}

/** Rejects when the client has gone. */
export type McpNotify = (method: string, params: Readonly<Record<string, unknown>>) => Promise<void>;

/** Makes a server for each connection, or for each request over HTTP: it has no state of its own. */
export async function createServerFactory(
  definition: McpDefinition | ((request: Request | undefined) => McpDefinition),
): Promise<McpServerFactory> {
  const sdk = await import('@modelcontextprotocol/server');
  // Of this process: what a client brings back to another one is refused.
  const states = sdk.createRequestStateCodec({ key: crypto.getRandomValues(new Uint8Array(32)) });
  return ({ requestInfo }) => {
    const own = typeof definition === 'function' ? definition(requestInfo) : definition;
    return createServer({ sdk, states }, own, own.tools.definitions.map(describeTool));
  };
}

interface Parts {
  readonly sdk: typeof Sdk;
  readonly states: ReturnType<typeof Sdk.createRequestStateCodec>;
}

type DescribedTool = ReturnType<typeof describe>;
const described = new WeakMap<ToolDefinition, DescribedTool>();

/** One row of tools/list. */
export function describeTool(tool: ToolDefinition): DescribedTool {
  let row = described.get(tool);
  if (row === undefined) {
    row = describe(tool);
    described.set(tool, row);
  }
  return row;
}

function describe(tool: ToolDefinition) {
  const { name, title, description, annotations } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: toJsonSchema(tool.input),
    ...(tool.output !== undefined && { outputSchema: toJsonSchema(tool.output) }),
    ...(annotations !== undefined && { annotations }),
  };
}

function createServer(parts: Parts, definition: McpDefinition, tools: readonly DescribedTool[]): McpServer {
  const { sdk, states } = parts;
  const { name, title, version, instructions, onInitialized } = definition;
  const server = new sdk.McpServer(
    { name, version, ...(title !== undefined && { title }) },
    {
      capabilities: capabilitiesOf(definition) as never,
      requestState: { verify: (state, ctx) => states.verify(state, ctx) },
      ...(instructions !== undefined && { instructions }),
    },
  );
  // Below the SDK's own registry: arguments are read by our rules, and refused in our words.
  const { server: low } = server;
  low.setRequestHandler('tools/list', () => ({ tools: [...tools] as never }));
  low.setRequestHandler('tools/call', async ({ params }, ctx) => {
    try {
      const result = await definition.tools.call(params.name, params.arguments, toolContext(ctx, definition));
      return result.needs === undefined ? toWireResult(result) : await ask(parts, result.needs);
    } catch (thrown) {
      if (thrown instanceof UnknownToolError)
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, thrown.message);
      throw thrown;
    }
  });
  for (const [method, answer] of Object.entries(methodsOf(definition)))
    low.setRequestHandler(
      method as 'prompts/list',
      (async (request: { params?: Record<string, unknown> }, ctx: ServerContext) => {
        try {
          const context = { signal: ctx.mcpReq.signal, ...answersOf(ctx) };
          const result = await answer(request.params ?? {}, context);
          return 'needs' in result ? await ask(parts, result.needs as ToolNeeds) : result;
        } catch (thrown) {
          if (thrown instanceof RpcError)
            throw new sdk.ProtocolError(thrown.code, thrown.message, thrown.data);
          throw thrown;
        }
      }) as never,
    );
  if (onInitialized !== undefined)
    low.oninitialized = () =>
      onInitialized((method, params) => low.notification({ method, params: { ...params } }));
  return server;
}

/** A client of the `initialize` era is asked by requests of their own, which the SDK makes of this. */
async function ask({ states }: Parts, { requests, state }: ToolNeeds) {
  return {
    resultType: 'input_required' as const,
    inputRequests: { ...requests } as never,
    ...(state !== undefined && { requestState: await states.mint(state) }),
  };
}

function answersOf({ mcpReq }: ServerContext): { answers: ToolAnswers } {
  const { inputResponses = {} } = mcpReq;
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const capabilities = envelope?.['io.modelcontextprotocol/clientCapabilities'];
  return {
    answers: {
      responses: inputResponses,
      state: mcpReq.requestState(),
      clientCapabilities: (capabilities ?? {}) as Readonly<Record<string, unknown>>,
    },
  };
}

function toolContext(ctx: ServerContext, { onError }: McpDefinition): ToolContext {
  const { mcpReq } = ctx;
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  // A client that has gone has no use for either.
  const tell = (sent: Promise<void>): void => {
    sent.catch((thrown: unknown) => {
      if (!mcpReq.signal.aborted) onError?.(toError(thrown));
    });
  };
  return {
    ...answersOf(ctx),
    requestId: mcpReq.id,
    signal: mcpReq.signal,
    progress: (step) => {
      if (progressToken === undefined || mcpReq.signal.aborted) return;
      tell(mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...step } }));
    },
    log: (level, message) => {
      if (!mcpReq.signal.aborted) tell(mcpReq.log(level, message));
    },
  };
}
