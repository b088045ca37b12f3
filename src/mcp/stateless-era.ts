// The era of MCP that has no handshake, by the SDK: our exchange as a web request, its web response as our answer.

import type { createMcpHandler } from '@modelcontextprotocol/server';
import type { RequestContext } from '../wire/http/context.js';
import { createServerFactory, type McpDefinition } from './server.js';

type Handler = ReturnType<typeof createMcpHandler>;

export class StatelessEra {
  readonly #onError: ((error: Error) => void) | undefined;
  /** Who answers which request. */
  readonly #definitions = new WeakMap<Request, McpDefinition>();
  #handler: Promise<Handler> | undefined;

  constructor(onError: ((error: Error) => void) | undefined) {
    this.#onError = onError;
  }

  async serve(ctx: RequestContext<unknown>, definition: McpDefinition, body: string): Promise<void> {
    const handler = await (this.#handler ??= this.#make());
    const request = toRequest(ctx, body);
    this.#definitions.set(request, definition);
    await reply(ctx, await handler.fetch(request));
  }

  async close(): Promise<void> {
    await (await this.#handler)?.close();
  }

  async #make(): Promise<Handler> {
    const [sdk, factory] = await Promise.all([
      import('@modelcontextprotocol/server'),
      createServerFactory((request) => this.#definitionOf(request)),
    ]);
    return sdk.createMcpHandler(factory, {
      legacy: 'reject',
      maxRequestBodySize: Number.MAX_SAFE_INTEGER, // it has been read, within the server's own cap
      ...(this.#onError !== undefined && { onerror: this.#onError }),
    });
  }

  #definitionOf(request: Request | undefined): McpDefinition {
    const definition = request === undefined ? undefined : this.#definitions.get(request);
    if (definition === undefined) throw new TypeError('a request that nobody has announced');
    return definition;
  }
}

/** What it accepts is only recommended to be said: whoever says nothing takes both. */
function toRequest(ctx: RequestContext<unknown>, body: string): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(ctx.req.headers))
    if (typeof value === 'string' && name !== 'connection' && name !== 'content-length')
      headers.set(name, value);
  if (!headers.has('accept')) headers.set('accept', 'application/json, text/event-stream');
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return new Request(ctx.url, { method: 'POST', headers, body, signal: ctx.signal });
}

async function reply(ctx: RequestContext<unknown>, response: Response): Promise<void> {
  const { res } = ctx;
  if (res.destroyed) return void response.body?.cancel().catch(() => {});
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void res.end();
  const reader = response.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  res.once('close', stop);
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      if (res.destroyed) return;
      if (!res.write(step.value)) await drained(ctx);
    }
    res.end();
  } finally {
    res.off('close', stop);
  }
}

function drained({ res }: RequestContext<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
}
