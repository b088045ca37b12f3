// The `initialize` era of MCP without a session: each request is answered from the definition alone.
//
// Not by the SDK: it makes a server, a transport and a stream for each request, and refuses clients that do not say what
// they accept. Without state there is nothing in this era that needs them.

import { INTERNAL_ERROR, RpcError, toError, toWireError, type WireError } from '../base/errors.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../wire/jsonrpc/message.js';
import type { McpId, McpRequest } from './message-reader.js';
import { capabilitiesOf, methodsOf } from './method.js';
import { describeTool, type McpDefinition } from './server.js';
import { type ToolContext, type ToolResult, toWireResult } from './tool.js';
import { UnknownToolError } from './tool-table.js';

/** Newest first: what is offered to a client that asks for one we do not know. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export interface McpReply {
  readonly jsonrpc: '2.0';
  readonly id: McpId;
  readonly result?: unknown;
  readonly error?: WireError;
}

/** Never rejects but with the reason of the context's signal. */
export async function answerRequest(
  request: McpRequest,
  definition: McpDefinition,
  ctx: ToolContext,
): Promise<McpReply> {
  const { id, method, params = {} } = request;
  switch (method) {
    case 'tools/call':
      return await callTool(id, params, definition, ctx);
    case 'tools/list':
      return { jsonrpc: '2.0', id, result: { tools: definition.tools.definitions.map(describeTool) } };
    case 'initialize':
      return { jsonrpc: '2.0', id, result: initialize(params, definition) };
    case 'ping':
      return { jsonrpc: '2.0', id, result: {} };
    case 'logging/setLevel':
      return LOG_LEVELS.includes(String(params['level']))
        ? { jsonrpc: '2.0', id, result: {} }
        : failure(id, INVALID_PARAMS, `level must be one of ${LOG_LEVELS.join(', ')}`);
    default:
      return await answerMethod(request, definition, ctx);
  }
}

async function answerMethod(
  { id, method, params = {} }: McpRequest,
  definition: McpDefinition,
  { signal }: ToolContext,
): Promise<McpReply> {
  const methods = methodsOf(definition);
  const answer = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (answer === undefined) return failure(id, METHOD_NOT_FOUND, 'Method not found');
  try {
    const result = await answer(params, { signal });
    return 'needs' in result ? failure(id, INTERNAL_ERROR, CANNOT_ASK) : { jsonrpc: '2.0', id, result };
  } catch (thrown) {
    signal.throwIfAborted();
    if (!(thrown instanceof RpcError)) definition.onError?.(toError(thrown));
    return { jsonrpc: '2.0', id, error: toWireError(thrown) };
  }
}

/** An answer to a question of ours would come by a request of its own, which might reach anybody. */
const CANNOT_ASK =
  'this needs an answer of the client, which has no way back to us without a session: use the revision 2026-07-28, or standard streams';

function initialize(params: Readonly<Record<string, unknown>>, definition: McpDefinition): object {
  const { name, title, version, instructions } = definition;
  const asked = params['protocolVersion'];
  return {
    protocolVersion: HANDSHAKE_VERSIONS.find((each) => each === asked) ?? HANDSHAKE_VERSIONS[0],
    capabilities: capabilitiesOf(definition),
    serverInfo: { name, ...(title !== undefined && { title }), version },
    ...(instructions !== undefined && { instructions }),
  };
}

async function callTool(
  id: McpId,
  params: Readonly<Record<string, unknown>>,
  definition: McpDefinition,
  ctx: ToolContext,
): Promise<McpReply> {
  const { name, arguments: given } = params;
  if (typeof name !== 'string') return failure(id, INVALID_PARAMS, 'name must be a string');
  try {
    return { jsonrpc: '2.0', id, result: toWire(await definition.tools.call(name, given, ctx)) };
  } catch (thrown) {
    ctx.signal.throwIfAborted();
    if (thrown instanceof UnknownToolError) return failure(id, INVALID_PARAMS, thrown.message);
    definition.onError?.(toError(thrown));
    return failure(id, INTERNAL_ERROR, 'Internal error');
  }
}

function toWire(result: ToolResult): object {
  return toWireResult(
    result.needs === undefined ? result : { content: [{ type: 'text', text: CANNOT_ASK }], isError: true },
  );
}

function failure(id: McpId, code: number, message: string): McpReply {
  return { jsonrpc: '2.0', id, error: { code, message } };
}
