// One output of a child, pulled: what nobody asks for stays in the pipe, and a full pipe slows the child down.

import { LocalError } from '../../base/errors.js';
import type { PipeSink, PipeSource } from './pipe-source.js';

/**
 * How long output may still arrive after the leader has ended. A grandchild that inherited the pipe can hold it open
 * for ever (`sh -c 'sleep 99 &'`), so waiting for its end alone would never report the exit.
 */
export const DRAIN_AFTER_EXIT_MS = 250;
/** Read before it is asked for, so that the next chunk is there when the consumer comes back. */
export const READ_AHEAD_BYTES = 64 * 1024;
/** The most a pipe can hold (an unprivileged program may enlarge its own up to this). */
export const MAX_PIPE_BYTES = 1024 * 1024;

export class ReadBusyError extends LocalError {
  override readonly name = 'ReadBusyError';

  constructor() {
    super('read_busy', 'a read of this output is already waiting');
  }
}

type Reader = (chunk: Buffer | undefined) => void;

export class OutputPipe implements AsyncIterable<Buffer>, PipeSink {
  /** Resolves when the last chunk has been handed out and no other can come. */
  readonly drained: Promise<void>;
  readonly #source: PipeSource;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #bytes = 0;
  #reader: Reader | undefined;
  #paused = false;
  #discarding = false;
  #ended = false;
  #held = false;
  #holdLeftMs: number | undefined;
  #holdTimer: { readonly handle: NodeJS.Timeout; readonly sinceMs: number } | undefined;
  #resolveDrained: () => void = () => {};

  constructor(open: (sink: PipeSink) => PipeSource) {
    this.drained = new Promise((resolve) => {
      this.#resolveDrained = resolve;
    });
    this.#source = open(this);
  }

  /** All bytes received so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True when the end is not the end of the pipe: somebody still had it open, and we stopped listening. */
  get held(): boolean {
    return this.#held;
  }

  /** The next chunk, yours to keep; undefined at the end. One read at a time. */
  read(): Promise<Buffer | undefined> {
    if (this.#reader !== undefined) return Promise.reject(new ReadBusyError());
    const chunk = this.#take();
    if (chunk !== undefined || this.#ended) return Promise.resolve(chunk);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (let chunk = await this.read(); chunk !== undefined; chunk = await this.read()) yield chunk;
  }

  /** Reads on to the end and throws away what comes, for a consumer that has seen enough. */
  discard(): void {
    this.#discarding = true;
    this.#queue.length = 0;
    this.#queuedBytes = 0;
    this.#wentOn();
  }

  /** The leader has ended: from now on the end is near, whoever else may have the pipe. */
  expectEnd(): void {
    if (this.#holdLeftMs !== undefined) return;
    this.#source.lookNow?.();
    if (this.#ended) return;
    this.#holdLeftMs = DRAIN_AFTER_EXIT_MS;
    this.#watchHold();
  }

  /** Lets the event loop end although more may come. */
  unref(): void {
    this.#source.unref();
  }

  /** Gives the descriptor back at once. What is queued can still be read, but nobody waits for that any more. */
  destroy(): void {
    this.#source.destroy();
    this.#finish();
    this.#resolveDrained();
  }

  data(chunk: Buffer): boolean {
    if (this.#ended) return true; // past the end nobody listens, but whoever writes shall not block or be killed
    this.#bytes += chunk.length;
    if (this.#discarding) return true;
    if (this.#reader !== undefined) this.#answer(chunk);
    else this.#enqueue(chunk);
    this.#paused = this.#queuedBytes >= READ_AHEAD_BYTES;
    return !this.#paused;
  }

  end(): void {
    this.#finish();
  }

  #enqueue(chunk: Buffer): void {
    this.#queue.push(chunk);
    this.#queuedBytes += chunk.length;
    this.#stopHoldTimer();
  }

  #take(): Buffer | undefined {
    const chunk = this.#queue.shift();
    if (chunk === undefined) return undefined;
    this.#queuedBytes -= chunk.length;
    this.#wentOn();
    return chunk;
  }

  /** The consumer has made room. */
  #wentOn(): void {
    if (this.#paused && this.#queuedBytes < READ_AHEAD_BYTES) {
      this.#paused = false;
      this.#source.resume();
    }
    if (this.#queue.length > 0) return;
    if (this.#ended) this.#resolveDrained();
    else this.#watchHold();
  }

  #answer(chunk: Buffer | undefined): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.(chunk);
  }

  /** Only while all that was read has been taken: time in which the consumer keeps us waiting does not count. */
  #watchHold(): void {
    if (this.#holdLeftMs === undefined || this.#holdTimer !== undefined || this.#queue.length > 0) return;
    const handle = setTimeout(() => this.#giveUpWaiting(), this.#holdLeftMs);
    this.#holdTimer = { handle, sinceMs: performance.now() };
  }

  #stopHoldTimer(): void {
    if (this.#holdTimer === undefined) return;
    clearTimeout(this.#holdTimer.handle);
    this.#holdLeftMs = Math.max(0, (this.#holdLeftMs ?? 0) - (performance.now() - this.#holdTimer.sinceMs));
    this.#holdTimer = undefined;
  }

  /** A busy event loop may not have come round to reading: what was written before the exit is taken now. */
  #giveUpWaiting(): void {
    this.#holdTimer = undefined;
    for (const chunk of this.#source.takeRest(MAX_PIPE_BYTES)) this.data(chunk);
    this.#held = true;
    this.#source.unref();
    this.#source.resume();
    this.#finish();
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stopHoldTimer();
    if (this.#queue.length === 0) {
      this.#answer(undefined);
      this.#resolveDrained();
    }
  }
}
