// A JSON-RPC 2.0 peer over a link: requests, notifications and batches both ways, bounded in every direction.

import { LocalError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { MAX_LINE_BYTES } from '../ndjson/line-splitter.js';
import { LineWriter, MAX_QUEUED_BYTES, QueueFullError } from '../ndjson/line-writer.js';
import type { Line } from '../ndjson/pieces.js';
import { LINGER_MS, type Link } from '../transport/link.js';
import { CallServer, MAX_CONCURRENT_CALLS, type CallHandler } from './call-server.js';
import { checkNow } from './check-now.js';
import { type Beside, encodeNotification } from './encode.js';
import { IncomingLines } from './incoming-lines.js';
import type { EventDef, MethodDef, RequestOf, ResultOf } from './method.js';
import { OutgoingCalls, type BatchCall } from './outgoing-calls.js';
import type { RequestOptions } from './pending-requests.js';

/** Members of a batch; a longer one is refused as a whole. */
export const MAX_BATCH = 1024;
/** Lines whose calls may not start yet: past this nothing is read. Answers and cancellations get through until then. */
export const MAX_WAITING_BYTES = 1024 * 1024;
/**
 * The same while requests of our own are out: the calls being served may be waiting for just those answers, which lie
 * behind the calls that wait, so stopping early would stop both sides for good.
 */
export const MAX_WAITING_BYTES_WHILE_CALLING = 64 * 1024 * 1024;
/** After the other side has ended its output: how long calls in progress have to finish, and answers to be taken. */
export const DRAIN_MS = 10_000;
/** On a plain close: how long the other side may take no answers before it gets no more. */
export const FLUSH_MS = 1000;

export interface PeerOptions {
  readonly onRequest?: CallHandler;
  readonly onNotification?: CallHandler;
  readonly log?: Log;
  /** Answer an empty line as the JSON it is not; else it is passed over, as a keep-alive. */
  readonly refuseBlankLines?: boolean;
  readonly maxLineBytes?: number;
  readonly maxConcurrent?: number;
  readonly maxBatch?: number;
  readonly maxWaitingBytes?: number;
  readonly maxPending?: number;
  readonly highWaterBytes?: number;
  readonly lowWaterBytes?: number;
  readonly maxQueuedBytes?: number;
  readonly drainMs?: number;
}

export class RpcPeer extends Resource {
  readonly link: Link;
  /** Settles when the connection is gone: undefined if either side just ended it, else what went wrong. */
  readonly closed: Promise<Error | undefined>;
  /** Settles when nothing more will come from the other side, while answers may still go out. */
  readonly inputEnded: Promise<void>;
  readonly #options: PeerOptions;
  readonly #writer: LineWriter;
  readonly #lines: IncomingLines;
  readonly #calls: CallServer;
  readonly #outgoing: OutgoingCalls;
  #tellClosed!: (reason: Error | undefined) => void;
  #tellInputEnded!: () => void;
  #heldBytes = 0;
  #inputOver = false;
  #paused = false;
  #watchingDrain = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(link: Link, options: PeerOptions = {}) {
    super();
    this.link = link;
    this.#options = options;
    const maxBatch = options.maxBatch ?? MAX_BATCH;
    this.closed = new Promise((resolve) => (this.#tellClosed = resolve));
    this.inputEnded = new Promise((resolve) => (this.#tellInputEnded = resolve));
    this.#calls = new CallServer({
      onRequest: options.onRequest,
      onNotification: options.onNotification,
      maxConcurrent: options.maxConcurrent ?? MAX_CONCURRENT_CALLS,
      send: (line) => this.#sendReply(line),
      isCongested: () => this.#writer.congested,
      onProgress: () => this.#regulate(),
      log: options.log,
    });
    this.#outgoing = new OutgoingCalls({
      send: (line) => this.#writer.send(line),
      maxBatch,
      maxPending: options.maxPending,
      log: options.log,
    });
    this.#lines = new IncomingLines({
      calls: this.#calls,
      outgoing: this.#outgoing,
      batches: { send: (line) => this.#sendReply(line), hold: (bytes) => this.#holdReplies(bytes) },
      maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
      maxBatch,
      refuseBlankLines: options.refuseBlankLines ?? false,
    });
    // Last of the parts: an output that is gone already is told of at once, and ends what the others do.
    this.#writer = new LineWriter(link.output, {
      ...options,
      ...(link.writeNow !== undefined && { writeNow: link.writeNow }),
      onFailure: (reason) => this.#onOutputLost(reason),
    });
    link.input.on('data', this.#onData);
    link.input.once('end', () => this.#onInputEnd());
    link.input.on('error', (error) => this.#onInputLost(error));
    link.input.once('close', () => this.#onInputEnd());
    if (link.input.destroyed || link.input.readableEnded) queueMicrotask(() => this.#onInputEnd());
  }

  /** Bytes that wait for the other side to read. */
  get queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  /** Calls of the other side being served or waiting to be. */
  get callsInProgress(): number {
    return this.#calls.size;
  }

  /** Rejects with an RpcError for an error answer, else with a LocalError or the signal's reason. */
  request(method: string, params?: object, options?: RequestOptions): Promise<unknown> {
    return this.#outgoing.request({ method, params, beside: options?.beside }, options);
  }

  /** `request` by definition: typed, and the result is checked against its schema. */
  async call<M extends MethodDef>(
    method: M,
    params: RequestOf<M>,
    options?: RequestOptions,
  ): Promise<ResultOf<M>> {
    const result = await this.request(method.name, params as object, options);
    const checked = checkNow(method.result, result);
    if (checked.issues === undefined) return checked.value as ResultOf<M>;
    throw new LocalError('bad_result', `the result of ${method.name} has not the promised shape`, {
      facts: { method: method.name, issues: checked.issues.length },
      cause: checked.issues,
    });
  }

  /** Many requests in one line, or as few as the cap allows. One promise for each, to be handled like `request`'s. */
  requestBatch(calls: readonly BatchCall[], options?: RequestOptions): Promise<unknown>[] {
    return this.#outgoing.requestBatch(calls, options);
  }

  /**
   * True while there is room for more; else await `drained()` before going on, which also tells when nobody is there
   * any more. Throws QueueFullError when that advice was not taken for too long.
   */
  notify(method: string, params?: object, beside?: Beside): boolean {
    return this.#writer.send(encodeNotification(method, params, beside));
  }

  /** `notify` by definition. */
  emit<E extends EventDef>(event: E, params: RequestOf<E>): boolean {
    return this.notify(event.name, params as object);
  }

  /**
   * A whole message as it shall go out, one line of JSON with its newline, in order with everything else. The bytes are
   * lent: they may be changed as soon as this returns.
   */
  notifyFrame(frame: Uint8Array): boolean {
    return this.#writer.sendFrame(frame);
  }

  /** Whether the other side has yet to take what was sent before more should be. */
  get congested(): boolean {
    return this.#writer.congested;
  }

  /** Resolves when the other side has taken enough for more to be sent; rejects when it is gone. */
  drained(): Promise<void> {
    return this.#writer.drained();
  }

  override close(reason: Error = new ClosedError('connection')): Promise<void> {
    return super.close(reason);
  }

  protected override async release(reason: Error): Promise<void> {
    clearTimeout(this.#timer);
    this.link.input.off('data', this.#onData);
    this.#outgoing.rejectAll(reason);
    this.#calls.stop(reason);
    await this.#flush();
    await this.link.close();
    this.#tellInputEnded();
    this.#tellClosed(reason instanceof ClosedError ? undefined : reason);
  }

  /** Gives up only when nothing was taken for a while: a slow reader is not a dead one. */
  async #flush(): Promise<void> {
    const patienceMs = this.#inputOver ? (this.#options.drainMs ?? DRAIN_MS) : FLUSH_MS;
    let left = Number.POSITIVE_INFINITY;
    const ended = this.#writer.end().then(
      () => true,
      () => true,
    );
    let over = false;
    while (!over && this.#writer.queuedBytes < left) {
      left = this.#writer.queuedBytes;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), patienceMs)));
      over = await Promise.race([ended, late]);
      clearTimeout(timer);
    }
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    this.#regulate();
  };

  /** An answer that cannot be queued must not just be missing: that ends the connection. */
  #sendReply(line: Line): void {
    try {
      this.#writer.send(line);
    } catch (thrown) {
      void this.close(thrown as Error);
    }
  }

  /** Replies of unfinished batches pile up like those that nobody reads, and have the same cap. */
  #holdReplies(bytes: number): void {
    this.#heldBytes += bytes;
    const max = this.#options.maxQueuedBytes ?? MAX_QUEUED_BYTES;
    if (this.#heldBytes > max) void this.close(new QueueFullError(this.#heldBytes, max));
  }

  /** Reads as long as there is room for what is read, and ends when there is nothing left to do. */
  #regulate(): void {
    const { waitingBytes } = this.#calls;
    if (waitingBytes === 0 && !this.#paused && !this.#inputOver) return; // the usual case, after every chunk
    if (this.closing) return;
    if (waitingBytes > 0 && this.#writer.congested) void this.#pumpWhenDrained();
    const room = this.#outgoing.size > 0 ? MAX_WAITING_BYTES_WHILE_CALLING : MAX_WAITING_BYTES;
    const full = waitingBytes >= (this.#options.maxWaitingBytes ?? room);
    if (full !== this.#paused && !this.#inputOver) {
      this.#paused = full;
      if (full) this.link.input.pause();
      else this.link.input.resume();
    }
    if (this.#inputOver && this.#calls.size === 0) void this.close(this.#outgoing.refusal);
  }

  async #pumpWhenDrained(): Promise<void> {
    if (this.#watchingDrain) return;
    this.#watchingDrain = true;
    try {
      await this.#writer.drained();
      this.#watchingDrain = false;
      this.#calls.pump();
    } catch {
      // Gone: the writer has told us already.
    }
  }

  #onInputEnd(): void {
    if (this.#inputOver || this.closing) return;
    this.#inputOver = true;
    this.#lines.end();
    this.#outgoing.rejectAll(this.#outgoing.refusal ?? new ClosedError('connection'));
    this.#tellInputEnded();
    this.#timer ??= setTimeout(
      () => void this.close(this.#outgoing.refusal),
      this.#options.drainMs ?? DRAIN_MS,
    );
    this.#regulate();
  }

  #onInputLost(cause: Error): void {
    void this.close(connectionLost(cause));
  }

  /** Nothing can be answered, but answers to us may still lie in the pipe: a child's last words, say. */
  #onOutputLost(cause: Error): void {
    if (this.closing) return;
    const reason = connectionLost(cause);
    this.#outgoing.refuse(reason);
    this.#calls.stop(reason);
    clearTimeout(this.#timer);
    if (this.#inputOver) void this.close(reason);
    else this.#timer = setTimeout(() => void this.close(reason), LINGER_MS);
  }
}

function connectionLost(cause: Error): Error {
  if (cause instanceof ClosedError) return cause;
  return new LocalError('connection_lost', `the connection broke: ${cause.message}`, { cause });
}
