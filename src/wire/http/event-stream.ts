// An answer that goes on: server-sent events to one client, at the client's own pace.

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { LocalError } from '../../base/errors.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { encodeComment, encodeEvent, type SseEvent } from '../sse/encode.js';
import type { Exchange } from './context.js';
import { ClientGoneError } from './errors.js';
import { WATCHED_BODY_BYTES, watchForStall } from './reply.js';

/** Longest silence on a stream: proxies and load balancers give up on one after 30 to 60 s. */
export const SSE_KEEP_ALIVE_MS = 15_000;

export interface EventStreamOptions {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  /** A comment is sent after this much silence; Infinity for never. */
  readonly keepAliveMs?: number;
  /** Bytes that may wait for a client that does not read; the server's `maxStreamQueueBytes` when absent. */
  readonly maxQueueBytes?: number;
  /** Closes the stream when it aborts. `ctx.draining` for a stream without an end of its own. */
  readonly until?: AbortSignal;
}

/** The client reads too slowly and too much waits for it already. The event was not queued. */
export class StreamFullError extends LocalError {
  override readonly name = 'StreamFullError';

  constructor(limit: number) {
    super('stream_full', `more than ${limit} bytes wait for the client of this stream`, { facts: { limit } });
  }
}

/** Sends the head at once, so that the client knows it is connected before the first event. */
export function openEventStream(exchange: Exchange, options: EventStreamOptions = {}): EventStream {
  return new EventStream(exchange, options);
}

const KEEP_ALIVE = encodeComment('keep-alive');
/** The usual end of every stream, made once: an error costs more than the events of a short stream. */
const ENDED = new ClosedError('event stream');

export class EventStream extends Resource {
  readonly #exchange: Exchange;
  readonly #res: ServerResponse;
  readonly #maxQueueBytes: number;
  readonly #until: AbortSignal | undefined;
  readonly #keepAlive: NodeJS.Timeout | undefined;
  /** Senders whose event is in the queue but not yet with the kernel. */
  readonly #waiting = new Set<{ resolve: () => void; reject: (error: Error) => void }>();
  #ended: Error | undefined;
  /** Something has been written, and the head with it. */
  #begun = false;

  constructor(exchange: Exchange, options: EventStreamOptions) {
    super();
    const { res } = exchange;
    this.#exchange = exchange;
    this.#res = res;
    this.#maxQueueBytes = options.maxQueueBytes ?? exchange.settings.maxStreamQueueBytes;
    this.#until = options.until;
    const keepAliveMs = options.keepAliveMs ?? SSE_KEEP_ALIVE_MS;
    if (Number.isFinite(keepAliveMs)) this.#keepAlive = setInterval(() => this.#ping(), keepAliveMs);

    res.on('drain', this.#drained).once('close', this.#left);
    this.#until?.addEventListener('abort', this.#over);
    if (res.destroyed) this.#left();
    else this.#begin(options);
  }

  /**
   * Resolves when the client has room for more, so a producer that awaits it runs at the client's pace. Rejects with
   * ClientGoneError once the client has left, and with StreamFullError, queueing nothing, when a producer that did not
   * wait has filled the queue. An event larger than the queue is accepted when nothing else waits.
   */
  async send(event: SseEvent): Promise<void> {
    const waiting = this.#write(encodeEvent(event));
    if (waiting !== undefined) await waiting;
  }

  async comment(text: string): Promise<void> {
    const waiting = this.#write(encodeComment(text));
    if (waiting !== undefined) await waiting;
  }

  override close(reason: Error = ENDED): Promise<void> {
    return super.close(reason);
  }

  /** Ends the answer; resolves when what was queued has been handed over or the client has left. */
  protected async release(reason: Error): Promise<void> {
    this.#ended = reason;
    clearInterval(this.#keepAlive);
    this.#until?.removeEventListener('abort', this.#over);
    const delivered = await endResponse(this.#exchange);
    this.#res.off('drain', this.#drained).off('close', this.#left);
    for (const sender of this.#waiting) {
      if (delivered) sender.resolve();
      else sender.reject(new ClientGoneError());
    }
    this.#waiting.clear();
  }

  #begin(options: EventStreamOptions): void {
    this.#res.writeHead(options.status ?? 200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache',
      'X-Accel-Buffering': 'no',
      ...options.headers,
    });
    // A first event sent at once takes the head along in one packet; without one the client must not wait for it.
    process.nextTick(() => {
      if (!this.#begun && this.#ended === undefined) this.#res.flushHeaders();
    });
    if (this.#until?.aborted === true || this.#exchange.req.method === 'HEAD') this.#over();
  }

  /** Undefined when the client has room for more. */
  #write(bytes: Buffer): Promise<void> | undefined {
    if (this.#ended !== undefined) throw this.#ended;
    const queued = this.#res.writableLength;
    if (queued > 0 && queued + bytes.length > this.#maxQueueBytes)
      throw new StreamFullError(this.#maxQueueBytes);
    this.#begun = true;
    this.#keepAlive?.refresh();
    if (this.#res.write(bytes)) return undefined;
    watchForStall(this.#exchange, this.#exchange.settings.stallMs);
    return new Promise((resolve, reject) => this.#waiting.add({ resolve, reject }));
  }

  #ping(): void {
    if (this.#res.writableLength === 0) this.#write(KEEP_ALIVE)?.catch(() => {}); // never on top of a queue
  }

  readonly #drained = (): void => {
    watchForStall(this.#exchange, 0);
    for (const sender of this.#waiting) sender.resolve();
    this.#waiting.clear();
  };

  readonly #left = (): void => {
    if (this.#ended === undefined) void this.close(new ClientGoneError()); // a response closes after a proper end, too
  };
  readonly #over = (): void => void this.close();
}

/** True when everything written has gone out, false when the connection ended first. */
function endResponse(exchange: Exchange): Promise<boolean> {
  const { res } = exchange;
  return new Promise((resolve) => {
    if (res.writableFinished) return resolve(true);
    if (res.destroyed) return resolve(false);
    res.once('finish', () => resolve(true)).once('close', () => resolve(res.writableFinished));
    if (res.writableLength >= WATCHED_BODY_BYTES) watchForStall(exchange, exchange.settings.stallMs);
    res.end();
  });
}
