// A tool call of the stateless era that differs from one the SDK has served before only in what it calls the tool with.
//
// The SDK makes a server, a transport and a stream for each request, which takes ten times as long as a short call. Whatever
// is unusual about a call, and the first of each client, is the SDK's to judge and to answer.

import type { RequestContext } from '../wire/http/context.js';
import { sendJson } from '../wire/http/reply.js';
import type { McpId, McpRequest } from './message-reader.js';
import type { McpDefinition } from './server.js';
import { type ToolContext, type ToolDefinition, type ToolResult, toWireResult } from './tool.js';
import { ToolTable } from './tool-table.js';

/** Clients that are remembered by what they say of themselves; the oldest goes. */
export const MAX_KNOWN_CLIENTS = 256;
/** What a client says of itself, where it is remembered. */
export const MAX_KNOWN_CLIENT_CHARS = 4096;

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const CALL_HEADERS = new Set(['mcp-protocol-version', 'mcp-method', 'mcp-name']);

export interface PlainCall {
  readonly id: McpId;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** `_meta`, which is the same in every call of a client. */
  readonly client: string;
}

export class PlainCalls {
  readonly #known = new Set<string>();

  isKnown({ client }: PlainCall): boolean {
    return this.#known.has(client);
  }

  /** The SDK has let it through to the tool. */
  learn({ client }: PlainCall): void {
    const [oldest] = this.#known;
    if (this.#known.size >= MAX_KNOWN_CLIENTS && oldest !== undefined) this.#known.delete(oldest);
    this.#known.add(client);
  }
}

/** Undefined for everything that has more to it than a tool, its arguments and who calls. */
export function readPlainCall(
  { req: { headers } }: RequestContext<unknown>,
  { id, method, params, ...more }: McpRequest,
): PlainCall | undefined {
  if (method !== 'tools/call' || params === undefined || Object.keys(more).length !== 1) return undefined;
  const { name, arguments: args, _meta: meta, ...other } = params;
  if (typeof name !== 'string' || !isRecord(args) || !isRecord(meta)) return undefined;
  if (Object.keys(other).length > 0 || Object.keys(meta).length !== 3) return undefined;
  if (headers['mcp-protocol-version'] !== VERSION || meta[`${META}protocolVersion`] !== VERSION)
    return undefined;
  if (headers['mcp-method'] !== method || headers['mcp-name'] !== name) return undefined;
  if (!isRecord(meta[`${META}clientInfo`]) || !isRecord(meta[`${META}clientCapabilities`])) return undefined;
  if (!acceptsBoth(headers.accept)) return undefined;
  for (const header in headers) if (header.startsWith('mcp-') && !CALL_HEADERS.has(header)) return undefined;
  const client = JSON.stringify(meta);
  return client.length > MAX_KNOWN_CLIENT_CHARS ? undefined : { id, name, args, client };
}

/** Never rejects but for a tool that is none, or a caller that has gone. */
export async function answerPlainCall(
  ctx: RequestContext<unknown>,
  definition: McpDefinition,
  { id, name, args }: PlainCall,
): Promise<void> {
  const context: ToolContext = { signal: ctx.signal, progress: () => {}, log: () => {} };
  const result = await definition.tools.call(name, args, context);
  sendJson(ctx, 200, {
    result: { ...toWireResult(result), ...completeness(definition) },
    jsonrpc: '2.0',
    id,
  });
}

/** The tools of another table; says when one of them is called. */
export class WatchedTools extends ToolTable {
  readonly #tools: ToolTable;
  readonly #onCall: () => void;

  constructor(tools: ToolTable, onCall: () => void) {
    super([]);
    this.#tools = tools;
    this.#onCall = onCall;
  }

  override get definitions(): ToolDefinition[] {
    return this.#tools.definitions;
  }

  override call(name: string, given: unknown, ctx: ToolContext): Promise<ToolResult> {
    this.#onCall();
    return this.#tools.call(name, given, ctx);
  }
}

/** What the SDK adds to every result of this era. */
function completeness({ name, version, title }: McpDefinition): object {
  const serverInfo = { name, version, ...(title !== undefined && { title }) };
  return { resultType: 'complete', _meta: { [`${META}serverInfo`]: serverInfo } };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function acceptsBoth(accept: string | undefined): boolean {
  return (
    accept === undefined || (accept.includes('application/json') && accept.includes('text/event-stream'))
  );
}
