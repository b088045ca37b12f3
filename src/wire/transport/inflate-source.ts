// An input that may turn into deflate, and back, at lines that say so. Memory stays flat whatever is sent: pieces are
// passed on as they come, and nothing is inflated while whoever reads is paused.

import { EventEmitter } from 'node:events';
import type { InflateRaw } from 'node:zlib';
import { LocalError } from '../../base/errors.js';
import { DEFLATE_MARKER } from './deflate-sink.js';
import type { ByteSource } from './link.js';

/** Compressed bytes that wait to be inflated; past it nothing more is read. */
export const MAX_COMPRESSED_BYTES = 256 * 1024;

const NEWLINE = 0x0a;
const MARKED_LINE = Buffer.concat([Buffer.from('\n'), DEFLATE_MARKER]);

export class InflateSource extends EventEmitter implements ByteSource {
  readonly #from: ByteSource;
  #watching: boolean;
  #attached = false;
  #paused = false;
  /** A line's beginning that may turn out to be the marker. */
  #held: Buffer = Buffer.alloc(0);
  #atLineStart = true;
  #lastByte: number | undefined;
  #inflate: InflateRaw | undefined;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #busy = false;
  #isDisposed = false;
  /** What came after the last bytes, to be told after them. */
  #after: (() => void)[] = [];

  /** Until it watches, everything is passed on as it is. */
  constructor(from: ByteSource, watching: boolean) {
    super();
    this.#from = from;
    this.#watching = watching;
    for (const event of ['end', 'close'] as const)
      from.once(event, () => this.#tell(() => this.#finish(event)));
    from.on('error', (error) => this.#tell(() => this.emit('error', error)));
    // Whoever listens to data wants it to flow: not before.
    this.on('newListener', (event) => {
      if (event !== 'data' || this.#attached) return;
      this.#attached = true;
      from.on('data', (chunk) => this.#take(chunk));
    });
  }

  /** Before the other side can have begun. */
  watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    this.#atLineStart = this.#lastByte === undefined || this.#lastByte === NEWLINE;
  }

  get destroyed(): boolean {
    return this.#from.destroyed && !this.#isBehind();
  }

  get readableEnded(): boolean {
    return this.#from.readableEnded && !this.#isBehind();
  }

  isPaused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
    this.#from.pause();
    this.#inflate?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#inflate?.resume();
    this.#regulate();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#inflate?.close();
    this.#inflate = undefined;
    this.#queue = [];
    this.#busy = false;
  }

  #take(chunk: Buffer | string): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!this.#watching && !this.#busy) {
      this.#pass(bytes);
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#regulate();
    if (!this.#busy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    try {
      for (let chunk = this.#next(); chunk !== undefined; chunk = this.#next()) {
        if (this.#inflate === undefined) await this.#passPlain(chunk);
        else await this.#passInflated(this.#inflate, chunk);
      }
    } catch (cause) {
      // What was being inflated when the link was given up is nobody's loss.
      if (!this.#isDisposed)
        this.emit(
          'error',
          new LocalError('bad_compression', 'what came is not what was compressed', { cause }),
        );
    }
    this.#busy = false;
    this.#tellAfter();
  }

  /** The end comes after the last byte, also when that is inflated and nobody has taken it yet. */
  #isBehind(): boolean {
    return this.#busy || (this.#inflate?.readableLength ?? 0) > 0;
  }

  #tellAfter(): void {
    while (this.#after.length > 0 && !this.#isBehind()) this.#after.shift()?.();
  }

  #next(): Buffer | undefined {
    const chunk = this.#queue.shift();
    this.#queuedBytes -= chunk?.length ?? 0;
    if (chunk !== undefined) this.#regulate();
    return chunk;
  }

  async #passPlain(chunk: Buffer): Promise<void> {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = Buffer.alloc(0);
    const marker = findMarker(bytes, this.#atLineStart);
    if (marker === undefined) {
      const rest = beginningOfMarker(bytes, this.#atLineStart);
      this.#atLineStart = rest !== undefined;
      this.#held = bytes.subarray(rest ?? bytes.length);
      this.#pass(bytes.subarray(0, rest ?? bytes.length));
      return;
    }
    this.#pass(bytes.subarray(0, marker));
    await this.#begin();
    const behind = bytes.subarray(marker + DEFLATE_MARKER.length);
    if (this.#inflate !== undefined && behind.length > 0) await this.#passInflated(this.#inflate, behind);
  }

  async #begin(): Promise<void> {
    const { createInflateRaw, constants } = await import('node:zlib');
    const inflate = createInflateRaw({
      flush: constants.Z_SYNC_FLUSH,
      finishFlush: constants.Z_SYNC_FLUSH,
      chunkSize: 64 * 1024,
    });
    inflate.on('error', () => {}); // told to whoever writes to it
    inflate.on('data', (bytes: Buffer) => {
      this.#pass(bytes);
      this.#tellAfter();
    });
    if (this.#paused) inflate.pause();
    this.#inflate = inflate;
  }

  /** What is behind the end of the deflate is lines again. */
  async #passInflated(inflate: InflateRaw, chunk: Buffer): Promise<void> {
    const before = inflate.bytesWritten;
    const over = await feed(inflate, chunk);
    if (!over) return;
    const used = inflate.bytesWritten - before;
    this.#inflate = undefined;
    inflate.close();
    this.#atLineStart = this.#lastByte === NEWLINE;
    if (used < chunk.length) await this.#passPlain(chunk.subarray(used));
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#lastByte = bytes.at(-1);
    this.emit('data', bytes);
  }

  #regulate(): void {
    if (this.#paused || this.#queuedBytes > MAX_COMPRESSED_BYTES) this.#from.pause();
    else if (this.#from.isPaused()) this.#from.resume();
  }

  #tell(event: () => void): void {
    this.#after.push(event);
    this.#tellAfter();
  }

  /** What was held back for a marker that never came is a line's beginning, and the last. */
  #finish(event: 'end' | 'close'): void {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    this.#pass(held);
    this.emit(event);
  }
}

function findMarker(bytes: Buffer, atLineStart: boolean): number | undefined {
  if (atLineStart && bytes.subarray(0, DEFLATE_MARKER.length).equals(DEFLATE_MARKER)) return 0;
  const found = bytes.indexOf(MARKED_LINE);
  return found === -1 ? undefined : found + 1;
}

/** Where the last line begins, if it may still become the marker. */
function beginningOfMarker(bytes: Buffer, atLineStart: boolean): number | undefined {
  const newline = bytes.lastIndexOf(NEWLINE);
  if (newline === -1 && !atLineStart) return undefined;
  const last = bytes.subarray(newline + 1);
  const possible =
    last.length < DEFLATE_MARKER.length && DEFLATE_MARKER.subarray(0, last.length).equals(last);
  return possible ? newline + 1 : undefined;
}

/** Resolves when all of it has been taken and passed on: whether that was the end of the deflate. */
function feed(inflate: InflateRaw, chunk: Buffer): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => (): void => {
      inflate.off('end', onEnd);
      inflate.off('error', onError);
      inflate.off('close', onClose);
      act();
    };
    const onEnd = settle(() => resolve(true));
    const onClose = settle(() => reject(new Error('closed')));
    const onError = (error: Error): void => settle(() => reject(error))();
    inflate.once('end', onEnd);
    inflate.once('error', onError);
    inflate.once('close', onClose);
    inflate.write(chunk, (error) => {
      if (error) onError(error);
      else settle(() => resolve(false))();
    });
  });
}
