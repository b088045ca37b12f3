// Both eras of MCP from one definition: the `initialize` era, up to 2025-11-25, and the stateless one of 2026-07-28.
//
// The SDK is a third of a megabyte: only serving loads it.

import type * as Sdk from '@modelcontextprotocol/server';
import type { McpServer, McpServerFactory, ServerContext } from '@modelcontextprotocol/server';
import { LocalError, RpcError, toError } from '../base/errors.js';
import { toJsonSchema } from './json-schema.js';
import type { Prompt } from './prompt.js';
import type { ToolContext, ToolDefinition, ToolResult } from './tool.js';
import { type ToolTable, UnknownToolError } from './tool-table.js';

export interface McpDefinition {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  /** For the model, once per conversation: what the tools have in common. */
  readonly instructions?: string;
  readonly tools: ToolTable;
  readonly prompts?: readonly Prompt[];
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
  return ({ requestInfo }) => {
    const own = typeof definition === 'function' ? definition(requestInfo) : definition;
    return createServer(sdk, own, own.tools.definitions.map(describeTool));
  };
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

function createServer(
  sdk: typeof Sdk,
  definition: McpDefinition,
  tools: readonly DescribedTool[],
): McpServer {
  const { name, title, version, instructions, prompts = [], experimental, onInitialized } = definition;
  const server = new sdk.McpServer(
    { name, version, ...(title !== undefined && { title }) },
    {
      capabilities: {
        tools: { listChanged: false },
        logging: {},
        ...(experimental !== undefined && { experimental: { ...experimental } as never }),
        ...(prompts.length > 0 && { prompts: { listChanged: false }, completions: {} }),
      },
      ...(instructions !== undefined && { instructions }),
    },
  );
  // Below the SDK's own registry: arguments are read by our rules, and refused in our words.
  const { server: low } = server;
  low.setRequestHandler('tools/list', () => ({ tools: [...tools] as never }));
  low.setRequestHandler('tools/call', async ({ params }, ctx) => {
    try {
      return toWire(await definition.tools.call(params.name, params.arguments, toolContext(ctx, definition)));
    } catch (thrown) {
      if (thrown instanceof UnknownToolError) throw invalidParams(sdk, thrown);
      throw thrown;
    }
  });
  if (prompts.length > 0) servePrompts(sdk, low, prompts);
  if (onInitialized !== undefined)
    low.oninitialized = () =>
      onInitialized((method, params) => low.notification({ method, params: { ...params } }));
  return server;
}

function servePrompts(sdk: typeof Sdk, low: McpServer['server'], prompts: readonly Prompt[]): void {
  const find = (name: string): Prompt => {
    const prompt = prompts.find((each) => each.name === name);
    if (prompt !== undefined) return prompt;
    throw invalidParams(sdk, new Error(`no prompt ${JSON.stringify(name.slice(0, 64))}`));
  };
  low.setRequestHandler('prompts/list', () => ({ prompts: prompts.map(describePrompt) }));
  low.setRequestHandler('prompts/get', async ({ params }) => {
    const prompt = find(params.name);
    try {
      const text = await prompt.get(params.arguments ?? {});
      return {
        description: prompt.description,
        messages: [{ role: 'user', content: { type: 'text', text } }],
      };
    } catch (thrown) {
      if (thrown instanceof LocalError || thrown instanceof RpcError) throw invalidParams(sdk, thrown);
      throw thrown;
    }
  });
  low.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => {
    const prompt = ref.type === 'ref/prompt' ? prompts.find((each) => each.name === ref.name) : undefined;
    const complete = prompt?.arguments?.find((each) => each.name === argument.name)?.complete;
    const values = (await complete?.(argument.value)) ?? [];
    const shown = values.slice(0, MAX_COMPLETIONS);
    return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
  });
}

/** MCP's own bound on the values of one completion. */
export const MAX_COMPLETIONS = 100;

function describePrompt({ name, title, description, arguments: args = [] }: Prompt) {
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    arguments: args.map((arg) => ({
      name: arg.name,
      description: arg.description,
      required: arg.required === true,
    })),
  };
}

function toolContext({ mcpReq }: ServerContext, { onError }: McpDefinition): ToolContext {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  // A client that has gone has no use for either.
  const tell = (sent: Promise<void>): void => {
    sent.catch((thrown: unknown) => {
      if (!mcpReq.signal.aborted) onError?.(toError(thrown));
    });
  };
  return {
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

function toWire({ content, structured, isError }: ToolResult) {
  return {
    content: content.map((part) => ({ ...part })),
    ...(structured !== undefined && { structuredContent: { ...structured } }),
    ...(isError === true && { isError }),
  };
}

function invalidParams(sdk: typeof Sdk, cause: Error): Error {
  return new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, cause.message);
}
