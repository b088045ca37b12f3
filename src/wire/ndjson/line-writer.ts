// One ordered writer per stream: lines join into one write per tick, and every promise it gives settles.

import { LocalError } from '../../base/errors.js';
import { ClosedError } from '../../base/resource.js';
import type { ByteSink } from '../transport/link.js';
import {
  isLong,
  isLongPiece,
  joinPieces,
  type Line,
  type MadePiece,
  madePieces,
  type Piece,
  sizeOf,
} from './pieces.js';

/** Above this the writer is congested: well-behaved producers stop and wait for `drained()`. */
export const HIGH_WATER_BYTES = 1024 * 1024;
/** Below this it is not congested any more. */
export const LOW_WATER_BYTES = 256 * 1024;
/** Nothing more is taken past this: the other side does not read, and a producer did not wait. */
export const MAX_QUEUED_BYTES = 256 * 1024 * 1024;

/** A burst this long goes out before it is over. */
const BURST_BYTES = 2048;
/** What is longer hardly fits into a pipe at once, and joining it would cost more than is won. */
export const MAX_DIRECT_BYTES = 64 * 1024;

const NEWLINE = Buffer.from('\n');

export class QueueFullError extends LocalError {
  override readonly name = 'QueueFullError';

  constructor(queuedBytes: number, maxQueuedBytes: number) {
    super('queue_full', `${queuedBytes} bytes wait for a reader already`, {
      facts: { queuedBytes, maxQueuedBytes },
    });
  }
}

export interface LineWriterOptions {
  readonly highWaterBytes?: number;
  readonly lowWaterBytes?: number;
  readonly maxQueuedBytes?: number;
  /**
   * Writes to where the stream leads without waiting, and says how much was taken; 0 when nothing could be. A stream
   * makes several objects and callbacks of each write, which for a short answer is as much work as all the rest.
   */
  readonly writeNow?: (bytes: Uint8Array) => number;
  /** Called once if the stream breaks or closes before `end()` has finished. */
  readonly onFailure?: (reason: Error) => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** One write: what it brings, and who waits for it. */
interface Flight {
  readonly bytes: number;
  readonly waiters: readonly Waiter[];
}

export class LineWriter {
  readonly #out: ByteSink;
  readonly #options: LineWriterOptions;
  readonly #highWater: number;
  readonly #lowWater: number;
  readonly #maxQueued: number;
  /** Waiting for the next write, in order: the pieces, then the text. */
  #pieces: MadePiece[] = [];
  #text = '';
  #waiting: Waiter[] = [];
  #waitingBytes = 0;
  /** With the stream, oldest first. */
  #flights: Flight[] = [];
  #flyingBytes = 0;
  #waitingLines = 0;
  #scheduled = false;
  #oneByOne = true;
  #congested = false;
  #drainers: Waiter[] = [];
  #ending: Promise<void> | undefined;
  #finished: Waiter | undefined;
  #failure: Error | undefined;

  constructor(out: ByteSink, options: LineWriterOptions = {}) {
    this.#out = out;
    this.#options = options;
    this.#highWater = options.highWaterBytes ?? HIGH_WATER_BYTES;
    this.#lowWater = Math.min(options.lowWaterBytes ?? LOW_WATER_BYTES, this.#highWater);
    this.#maxQueued = options.maxQueuedBytes ?? MAX_QUEUED_BYTES;
    // Node skips pending write callbacks when a stream is destroyed mid-write, and 'drain' never comes. The error
    // listener stays for good: a broken pipe must never become an uncaught exception.
    out.on('error', (error) => this.#fail(error));
    out.once('close', () => this.#fail(new ClosedError('output')));
    out.once('finish', () => this.#finish());
    if (out.destroyed || out.writableEnded) this.#fail(new ClosedError('output'));
  }

  /**
   * What was taken and not yet handed over. Text counts by its length, which is its bytes but for what is beyond
   * ASCII: close enough for the marks and the cap, and counting exactly costs as much as the writing itself.
   */
  get queuedBytes(): number {
    return this.#waitingBytes + this.#flyingBytes;
  }

  /** From above the high-water mark until below the low one. */
  get congested(): boolean {
    return this.#congested;
  }

  /** Why nothing can be written any more. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Queues a line; true while there is room for more, else await `drained()`, which also tells when the stream is
   * gone (then the line is dropped). Throws QueueFullError, with nothing queued, past the cap.
   */
  send(line: Line): boolean {
    if (this.#failure !== undefined || this.#ending !== undefined) return false;
    this.#assertRoom(sizeOf(line) + 1);
    if (isLong(line) && this.#mayWriteWhileMaking()) return this.#writeWhileMaking(line);
    return this.#taken(this.#append(line));
  }

  /**
   * `send` for a line with its newline, lent for the call: what does not go out at once is copied. It spares a copy of
   * every byte where lines are long and come one after another.
   */
  sendFrame(frame: Uint8Array): boolean {
    if (this.#failure !== undefined || this.#ending !== undefined) return false;
    if (this.queuedBytes === 0 && this.#mayBypass(frame.length)) {
      const taken = this.#options.writeNow?.(frame) ?? 0;
      if (taken === frame.length) return true;
      const rest = Buffer.from(frame.subarray(taken));
      this.#flights.push({ bytes: rest.length, waiters: [] });
      this.#flyingBytes += rest.length;
      this.#out.write(rest, this.#landed);
      return true;
    }
    this.#assertRoom(frame.length);
    if (this.#text !== '') this.#pieces.push(this.#text);
    this.#pieces.push(Buffer.from(frame));
    this.#text = '';
    return this.#taken(frame.length);
  }

  /** `send`, as a promise: resolves when the line was handed over, which is not to say received. */
  write(line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      if (this.#ending !== undefined) return reject(new ClosedError('output'));
      this.#assertRoom(sizeOf(line) + 1);
      this.#waiting.push({ resolve, reject }); // before the line: it may go out at once
      this.send(line);
    });
  }

  /**
   * Resolves as soon as the queue is below the low-water mark, at once if it was not above the high one. Rejects when
   * nothing more can be sent.
   */
  drained(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) reject(this.#failure);
      else if (this.#ending !== undefined) reject(new ClosedError('output'));
      else if (this.#congested) this.#drainers.push({ resolve, reject });
      else resolve();
    });
  }

  /** Writes what is queued, then ends the stream. Lines sent afterwards are refused. */
  end(): Promise<void> {
    this.#ending ??= new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#finished = { resolve, reject };
      if (this.queuedBytes === 0) this.#out.end();
    });
    return this.#ending;
  }

  /** A line of so many bytes waits now. Whether there is room for another. */
  #taken(bytes: number): boolean {
    this.#waitingBytes += bytes;
    if (this.queuedBytes > this.#highWater) this.#congested = true;
    this.#waitingLines += 1;
    this.#schedule();
    return !this.#congested;
  }

  /** A line longer than the cap may pass when it is alone: the cap is on what piles up. */
  #assertRoom(bytes: number): void {
    const queued = this.queuedBytes;
    if (queued > 0 && queued + bytes > this.#maxQueued) throw new QueueFullError(queued, this.#maxQueued);
  }

  /** Gives what it takes of the queue. */
  #append(line: Line): number {
    if (typeof line === 'string') {
      this.#text += `${line}\n`;
      return line.length + 1;
    }
    let bytes = 1;
    for (const piece of madePieces(line)) {
      bytes += piece.length;
      if (typeof piece === 'string') {
        this.#text += piece;
      } else if (piece.length > 0) {
        if (this.#text !== '') this.#pieces.push(this.#text);
        this.#pieces.push(piece);
        this.#text = '';
      }
    }
    this.#text += '\n';
    return bytes;
  }

  #mayWriteWhileMaking(): boolean {
    return this.#options.writeNow !== undefined && this.queuedBytes === 0 && this.#mayBypass(0);
  }

  /**
   * Every chunk is offered to the reader as soon as it is made, together with what it had no room for before. So it reads
   * while we work, and there are as many system calls less as the stream would have been woken to go on.
   */
  #writeWhileMaking(line: readonly Piece[]): boolean {
    const left: Uint8Array[] = [];
    for (const piece of line) {
      for (const chunk of isLongPiece(piece) ? piece.chunks : [piece]) {
        const offered = this.#offer(left, typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
        if (offered.length > 0) left.push(Buffer.from(offered)); // lent, and needed for longer
      }
    }
    const end = this.#offer(left, NEWLINE);
    if (end.length > 0) left.push(end);
    const bytes = left.reduce((sum, { length }) => sum + length, 0);
    this.#flights.push({ bytes, waiters: this.#waiting });
    this.#waiting = [];
    this.#flyingBytes += bytes;
    if (bytes === 0) {
      this.#landed();
      return true;
    }
    this.#congested = bytes > this.#highWater;
    this.#out.cork();
    for (const [i, chunk] of left.entries()) {
      if (i < left.length - 1) this.#out.write(chunk);
      else this.#out.write(chunk, this.#landed);
    }
    this.#out.uncork();
    return !this.#congested;
  }

  /** First what is left from before; gives what of `chunk` was not taken. */
  #offer(left: Uint8Array[], chunk: Uint8Array): Uint8Array {
    for (;;) {
      const first = left[0] ?? chunk;
      const taken = first.length === 0 ? 0 : (this.#options.writeNow?.(first) ?? 0);
      if (left.length === 0) return chunk.subarray(taken);
      if (taken < first.length) {
        left[0] = first.subarray(taken);
        return chunk;
      }
      left.shift();
    }
  }

  /**
   * A burst is worth waiting for until the microtasks of this tick have run: the replies they make join one write. But
   * not the whole of a long one: the other side can start on its beginning while we are still at its end. And where
   * lines have been coming one by one, waiting would only add to each round trip.
   */
  #schedule(): void {
    if (this.#waitingBytes >= BURST_BYTES) {
      if (!this.#mustWait()) this.#flush();
    } else if (this.#flyingBytes === 0 && !this.#scheduled) {
      if (this.#oneByOne) {
        this.#flush();
      } else {
        this.#flushSoon();
      }
    }
  }

  #flushSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(this.#flushTick);
  }

  readonly #flushTick = (): void => {
    this.#scheduled = false;
    if (this.#waitingLines === 0) return;
    this.#oneByOne = this.#waitingLines === 1;
    if (!this.#mustWait()) this.#flush();
  };

  /**
   * While the stream has bytes of ours more would only pile up there; their landing sends it all together. Bytes of
   * somebody else land without our knowing: to wait for those would be to wait for good.
   */
  #mustWait(): boolean {
    return this.#flyingBytes > 0 && this.#out.writableLength > 0;
  }

  #flush(): void {
    if (this.#waitingBytes === 0 || this.#failure !== undefined) return;
    const pieces = this.#pieces;
    const text = this.#text;
    this.#flights.push({ bytes: this.#waitingBytes, waiters: this.#waiting });
    this.#flyingBytes += this.#waitingBytes;
    this.#waitingBytes = 0;
    this.#waitingLines = 0;
    this.#text = '';
    if (this.#waiting.length > 0) this.#waiting = [];
    if (pieces.length > 0) this.#pieces = [];
    if (this.#flushNow(pieces, text)) return;
    if (pieces.length === 0) {
      this.#out.write(text, this.#landed);
      return;
    }
    this.#out.cork();
    for (const piece of pieces) this.#out.write(piece);
    this.#out.write(text, this.#landed);
    this.#out.uncork();
  }

  /** Past the stream where it has nothing of its own to write; what is not taken goes the usual way. */
  #flushNow(pieces: readonly MadePiece[], text: string): boolean {
    const { writeNow } = this.#options;
    if (writeNow === undefined || this.#flights.length > 1 || !this.#mayBypass(this.#flyingBytes))
      return false;
    const bytes = pieces.length === 0 ? Buffer.from(text) : joinPieces([...pieces, text]);
    const taken = writeNow(bytes);
    if (taken < bytes.length) {
      this.#out.write(bytes.subarray(taken), this.#landed);
      return true;
    }
    this.#landed();
    this.#flushSoon(); // so that what else this tick brings joins one write
    return true;
  }

  #mayBypass(bytes: number): boolean {
    return bytes <= MAX_DIRECT_BYTES && this.#out.writableLength === 0 && !this.#out.destroyed;
  }

  readonly #landed = (error?: Error | null): void => {
    if (this.#failure !== undefined) return;
    if (error !== undefined && error !== null) {
      this.#fail(error);
      return;
    }
    const flight = this.#flights.shift();
    if (flight === undefined) return;
    this.#flyingBytes -= flight.bytes;
    for (const waiter of flight.waiters) waiter.resolve();
    if (this.#congested && this.queuedBytes <= this.#lowWater) {
      this.#congested = false;
      for (const waiter of this.#drainers.splice(0)) waiter.resolve();
    }
    if (this.#flyingBytes > 0) return;
    if (this.#waitingBytes > 0) {
      this.#oneByOne = false;
      this.#flush();
    } else if (this.#finished !== undefined) this.#out.end();
  };

  #finish(): void {
    if (this.#finished === undefined) return this.#fail(new ClosedError('output')); // ended over our head
    this.#finished.resolve();
    this.#finished = undefined;
    this.#failure ??= new ClosedError('output');
  }

  #fail(reason: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    const left = [...this.#flights.flatMap((flight) => flight.waiters), ...this.#waiting, ...this.#drainers];
    if (this.#finished !== undefined) left.push(this.#finished);
    this.#flights = [];
    this.#waiting = this.#drainers = [];
    this.#pieces = [];
    this.#text = '';
    this.#waitingBytes = this.#flyingBytes = 0;
    for (const waiter of left) waiter.reject(reason);
    this.#options.onFailure?.(reason);
  }
}
