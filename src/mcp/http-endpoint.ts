// MCP over HTTP without sessions, in both eras: one POST, one answer, which becomes a stream when there is more to tell than the answer.

import { newAbort } from '../base/abort.js';
import { readBody, requireJsonType } from '../wire/http/body.js';
import type { RequestContext } from '../wire/http/context.js';

import { type EventStream, openEventStream } from '../wire/http/event-stream.js';
import { sendEmpty, sendJson } from '../wire/http/reply.js';
import { INVALID_REQUEST } from '../wire/jsonrpc/message.js';
import { answerRequest, HANDSHAKE_VERSIONS, type McpReply } from './handshake-era.js';
import {
  isRefusal,
  isRequest,
  type McpRequest,
  type ReadLine,
  readLine,
  type ReadMember,
  refuse,
} from './message-reader.js';
import { answerPlainCall, type PlainCall, PlainCalls, readPlainCall, WatchedTools } from './plain-call.js';
import type { McpDefinition } from './server.js';
import { StatelessEra } from './stateless-era.js';
import type { ToolContext } from './tool.js';

/** The first revision without a handshake; a client names it in a header or in each message. */
const FIRST_STATELESS_VERSION = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
/** Of errors that are about HTTP and not about the message. */
const HTTP_FAULT = -32000;

export type McpContext = RequestContext<unknown>;

export interface McpEndpointOptions {
  readonly onError?: (error: Error) => void;
  /** No tool asks its caller for anything: a call is its arguments, and the answer its result. */
  readonly hasPlainTools?: boolean;
}

/** The definition may differ from call to call, by who calls. */
export class McpHttpEndpoint {
  readonly #stateless: StatelessEra;
  readonly #plain: PlainCalls | undefined;

  constructor(options: McpEndpointOptions = {}) {
    this.#stateless = new StatelessEra(options.onError);
    if (options.hasPlainTools === true) this.#plain = new PlainCalls();
  }

  async post(ctx: McpContext, definition: McpDefinition): Promise<void> {
    if (ctx.req.headers['content-type'] !== undefined) requireJsonType(ctx.req);
    const text = (await readBody(ctx)).toString('utf8');
    const header = versionHeader(ctx);
    const line = readLine(text);
    const first = line.kind === 'one' ? line.member : undefined;
    if ((header ?? '') >= FIRST_STATELESS_VERSION || namesVersion(first))
      return await this.#serveStateless(ctx, definition, text, line);
    if (header !== undefined && !(HANDSHAKE_VERSIONS as readonly string[]).includes(header))
      return sendJson(
        ctx,
        400,
        refuse(null, HTTP_FAULT, `Bad Request: Unsupported protocol version: ${header.slice(0, 32)}`),
      );
    if (line.kind === 'nothing')
      return sendJson(ctx, 400, refuse(null, INVALID_REQUEST, 'the body is empty'));
    if (line.kind === 'batch') return await answerBatch(ctx, definition, line.members);
    await answerOne(ctx, definition, line.member);
  }

  async #serveStateless(
    ctx: McpContext,
    definition: McpDefinition,
    text: string,
    line: ReadLine,
  ): Promise<void> {
    const call = this.#plain === undefined ? undefined : findPlainCall(ctx, line);
    if (this.#plain === undefined || call === undefined)
      return await this.#stateless.serve(ctx, definition, text);
    if (this.#plain.isKnown(call) && definition.tools.definitions.some(({ name }) => name === call.name))
      return await answerPlainCall(ctx, definition, call);
    const learn = (): void => this.#plain?.learn(call);
    const watched = { ...definition, tools: new WatchedTools(definition.tools, learn) };
    await this.#stateless.serve(ctx, watched, text);
  }

  /** There is no stream to listen to and no session to end. */
  refuseMethod(ctx: McpContext): void {
    sendJson(ctx, 405, refuse(null, HTTP_FAULT, 'Method not allowed.'), { Allow: 'POST, OPTIONS' });
  }

  async close(): Promise<void> {
    await this.#stateless.close();
  }
}

/** Undefined for what the SDK is to judge. */
function findPlainCall(ctx: McpContext, line: ReadLine): PlainCall | undefined {
  if (line.kind !== 'one' || line.hasMore === true || !isRequest(line.member)) return undefined;
  return readPlainCall(ctx, line.member);
}

async function answerOne(ctx: McpContext, definition: McpDefinition, member: ReadMember): Promise<void> {
  if (isRefusal(member)) return sendJson(ctx, 400, member);
  if (!isRequest(member)) return sendEmpty(ctx, 202);
  const exchange = new Exchange(ctx);
  exchange.finish([await answerRequest(member, definition, exchange.contextOf(member))], false);
}

async function answerBatch(
  ctx: McpContext,
  definition: McpDefinition,
  members: readonly ReadMember[],
): Promise<void> {
  const exchange = new Exchange(ctx);
  const replies = await Promise.all(
    members.flatMap((member): unknown[] => {
      if (isRefusal(member)) return [member];
      return isRequest(member) ? [answerRequest(member, definition, exchange.contextOf(member))] : [];
    }),
  );
  if (replies.length === 0) sendEmpty(ctx, 202);
  else exchange.finish(replies as McpReply[], true);
}

/** One answer as JSON, unless something is told before it, or the client takes nothing but a stream. */
class Exchange {
  readonly #ctx: McpContext;
  #stream: EventStream | undefined;

  constructor(ctx: McpContext) {
    this.#ctx = ctx;
  }

  contextOf(request: McpRequest): ToolContext {
    const token = progressTokenOf(request);
    const canStream = accepts(this.#ctx, 'text/event-stream');
    return {
      // Only what takes long has use for it, and making one costs as much as many a call.
      signal: SHORT.has(request.method) ? NEVER : this.#ctx.signal,
      progress: (step) => {
        if (token === undefined || !canStream) return;
        const params = { progressToken: token, ...step };
        this.#tell({ jsonrpc: '2.0', method: 'notifications/progress', params });
      },
      // A client sets the level of a session, and there is none: whoever calls is told all of it.
      log: (level, data) => {
        if (canStream)
          this.#tell({ jsonrpc: '2.0', method: 'notifications/message', params: { level, data } });
      },
    };
  }

  finish(replies: readonly McpReply[], isBatch: boolean): void {
    if (this.#stream === undefined && !onlyStream(this.#ctx)) {
      sendJson(this.#ctx, 200, isBatch ? replies : replies[0]);
      return;
    }
    for (const reply of replies) this.#tell(reply);
    void this.#stream?.close();
  }

  #tell(message: unknown): void {
    if (this.#ctx.res.destroyed) return;
    this.#stream ??= openEventStream(this.#ctx, { maxQueueBytes: Number.POSITIVE_INFINITY });
    this.#stream.send({ event: 'message', data: JSON.stringify(message) }).catch(() => {});
  }
}

const NEVER = newAbort().signal;
const SHORT: ReadonlySet<string> = new Set(['initialize', 'ping', 'tools/list', 'logging/setLevel']);

function progressTokenOf({ params }: McpRequest): string | number | undefined {
  const meta = params?.['_meta'];
  const token =
    typeof meta === 'object' && meta !== null
      ? (meta as { progressToken?: unknown }).progressToken
      : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

function namesVersion(member: ReadMember): boolean {
  if (member === undefined || isRefusal(member) || 'answer' in member) return false;
  const meta = member.params?.['_meta'];
  return typeof meta === 'object' && meta !== null && Object.hasOwn(meta, VERSION_KEY);
}

function versionHeader({ req }: McpContext): string | undefined {
  const value = req.headers['mcp-protocol-version'];
  return typeof value === 'string' ? value.trim() : undefined;
}

function accepts({ req }: McpContext, type: string): boolean {
  const { accept } = req.headers;
  return accept === undefined || accept.includes(type) || accept.includes('*/*');
}

function onlyStream(ctx: McpContext): boolean {
  return accepts(ctx, 'text/event-stream') && !accepts(ctx, 'application/json');
}
