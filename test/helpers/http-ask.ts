// One HTTP request on a connection of its own, and its whole answer; or an event stream as it comes.

import { request } from 'node:http';
import { type SseEvent } from '../../src/wire/sse/encode.js';
import { SseDecoder } from '../../src/wire/sse/decode.js';
import { until } from './wait.js';

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** Sent as JSON, with its Content-Type. */
  readonly json?: unknown;
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Record<string, unknown>;
  /** The answer as server-sent events. */
  readonly events: readonly { readonly event: string; readonly data: unknown }[];
}

export function ask(url: string, path: string, options: Ask = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req = begin(url, path, options);
    req.once('error', reject);
    req.once('response', (res) => {
      const parts: Buffer[] = [];
      res.on('data', (part: Buffer) => parts.push(part));
      res.once('error', reject);
      res.once('end', () => {
        const bytes = Buffer.concat(parts);
        const text = bytes.toString('utf8');
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          text,
          get json() {
            return JSON.parse(text) as Record<string, unknown>;
          },
          get events() {
            return new SseDecoder().push(bytes).map(readEvent);
          },
        });
      });
    });
  });
}

/** A stream that is open; `events` grows. */
export class OpenStream implements Disposable {
  readonly events: { event: string; data: unknown; id?: string }[] = [];
  readonly comments: string[] = [];
  status = 0;
  headers: Readonly<Record<string, string | string[] | undefined>> = {};
  ended = false;
  readonly #req;

  constructor(url: string, path: string, options: Ask = {}) {
    this.#req = begin(url, path, options);
    const end = (): void => {
      this.ended = true;
    };
    const decoder = new SseDecoder({ onComment: (comment) => this.comments.push(comment) });
    this.#req.once('error', end);
    this.#req.once('close', end);
    this.#req.once('response', (res) => {
      this.status = res.statusCode ?? 0;
      this.headers = res.headers;
      res.on('data', (chunk: Buffer) => {
        for (const event of decoder.push(chunk))
          this.events.push({ ...readEvent(event), ...(event.id !== undefined && { id: event.id }) });
      });
      res.once('error', end);
      res.once('end', end);
    });
  }

  /** The first event of this name that `matches`, once it is there. */
  async event(
    name: string,
    matches: (data: never) => boolean = () => true,
  ): Promise<{ data: unknown; id?: string }> {
    return await until(
      () => this.events.find(({ event, data }) => event === name && matches(data as never)),
      `the event ${name}`,
      60_000,
    );
  }

  [Symbol.dispose](): void {
    this.#req.destroy();
  }
}

function begin(url: string, path: string, options: Ask) {
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const { hostname, port } = new URL(url);
  const req = request({
    host: hostname,
    port,
    path,
    agent: false,
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }),
      ...(options.json !== undefined && { 'Content-Type': 'application/json' }),
      ...options.headers,
    } as Record<string, string | string[]>,
    ...(options.signal !== undefined && { signal: options.signal }),
  });
  req.end(body);
  return req;
}

function readEvent({ event = 'message', data }: SseEvent): { event: string; data: unknown } {
  return { event, data: JSON.parse(data) };
}
