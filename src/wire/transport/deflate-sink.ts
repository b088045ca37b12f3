// An output that compresses: plain until there is enough to be worth it, then deflate with one context for all, every
// block flushed, so that nothing waits for more to come. In order always; memory is what the writer above allows.

import { toError } from '../../base/errors.js';
import { DeflatePace } from './deflate-pace.js';
import type { Deflater } from './deflater.js';
import type { ByteSink } from './link.js';

/** A whole line, after which all is deflate until that says that it is over; then lines again. */
export const DEFLATE_MARKER = Buffer.from('{"jsonrpc":"2.0","method":"session.deflate"}\n');
/** So much at once, or in all, and compressing begins: a prompt and its answer go as they are. */
export const WORTH_BYTES = 4096;
const WORTH_IN_ALL_BYTES = 64 * 1024;
/** Compressed in one go. */
const BLOCK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

type Done = (error?: Error | null) => void;

interface Waiting {
  readonly bytes: Buffer;
  readonly done: Done | undefined;
}

export interface DeflateTotals {
  /** Before compressing, and as they were sent. */
  readonly rawBytes: number;
  readonly sentBytes: number;
  readonly level: number;
}

export class DeflateSink implements ByteSink {
  readonly #out: ByteSink;
  #pace: DeflatePace | undefined;
  #deflater: Deflater | undefined;
  #level = 0;
  #starting = false;
  #plainBytes = 0;
  /** What was sent plain last. */
  #endsLine = true;
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  #corked = false;
  #busy = false;
  #ending = false;
  #rawBytes = 0;
  #sentBytes = 0;

  constructor(out: ByteSink) {
    this.#out = out;
    out.once('close', () => this.dispose());
  }

  /** From here on it compresses whenever that is worth it; with `adaptive` unless the link is faster than that. */
  allow(adaptive: boolean): void {
    this.#pace ??= new DeflatePace(adaptive);
  }

  /** Past the stream, while that is plain. */
  writeNow(bytes: Uint8Array, write: (bytes: Uint8Array) => number): number {
    if (this.#isDeflating() || this.#startBefore(bytes.length)) return 0;
    const taken = write(bytes);
    if (taken > 0) this.#endsLine = bytes[taken - 1] === NEWLINE;
    this.#notePlain(taken, 0);
    return taken;
  }

  get totals(): DeflateTotals {
    return { rawBytes: this.#rawBytes, sentBytes: this.#sentBytes, level: this.#level };
  }

  get destroyed(): boolean {
    return this.#out.destroyed;
  }

  get writableEnded(): boolean {
    return this.#ending || this.#out.writableEnded;
  }

  get writableLength(): number {
    return this.#queuedBytes + this.#out.writableLength;
  }

  write(chunk: string | Uint8Array, done?: Done): boolean {
    if (!this.#isDeflating() && !this.#startBefore(chunk.length)) return this.#writePlain(chunk, done);
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk); // pieces may be lent
    this.#queue.push({ bytes, done });
    this.#queuedBytes += bytes.length;
    if (!this.#corked) void this.#pump();
    return false;
  }

  cork(): void {
    this.#corked = true;
    this.#out.cork();
  }

  uncork(): void {
    this.#corked = false;
    this.#out.uncork();
    void this.#pump();
  }

  end(): void {
    this.#ending = true;
    if (!this.#busy && this.#queue.length === 0) this.#out.end();
  }

  on(event: 'error', listener: (error: Error) => void): this {
    this.#out.on(event, listener);
    return this;
  }

  once(event: 'finish' | 'close', listener: () => void): this {
    this.#out.once(event, listener);
    return this;
  }

  dispose(): void {
    this.#deflater?.close();
    this.#deflater = undefined;
    this.#pace = undefined;
  }

  #isDeflating(): boolean {
    return this.#deflater !== undefined || this.#starting || this.#busy;
  }

  #writePlain(chunk: string | Uint8Array, done: Done | undefined): boolean {
    if (this.#pace === undefined) return this.#out.write(chunk, done);
    this.#endsLine = chunk.at(-1) === (typeof chunk === 'string' ? '\n' : NEWLINE);
    const since = performance.now();
    return this.#out.write(chunk, (error) => {
      this.#notePlain(chunk.length, performance.now() - since);
      done?.(error);
    });
  }

  #notePlain(bytes: number, sendMs: number): void {
    if (this.#pace === undefined || bytes === 0) return;
    this.#rawBytes += bytes;
    this.#sentBytes += bytes;
    this.#plainBytes += bytes;
    if (this.#pace.level === 0) this.#pace.notePlain(bytes, sendMs);
  }

  /** Whether compressing begins with so many bytes more. In the middle of a line it cannot. */
  #startBefore(bytes: number): boolean {
    const worth = bytes >= WORTH_BYTES || this.#plainBytes + bytes >= WORTH_IN_ALL_BYTES;
    if (!worth || !this.#endsLine || this.#ending || (this.#pace?.level ?? 0) === 0) return false;
    void this.#start();
    return true;
  }

  /** Loading takes a moment, in which what is to be sent waits. */
  async #start(): Promise<void> {
    this.#starting = true;
    const { Deflater } = await import('./deflater.js');
    this.#starting = false;
    const level = this.#pace?.level ?? 0;
    if (level > 0 && !this.#out.destroyed) {
      this.#plainBytes = 0;
      this.#level = level;
      this.#deflater = new Deflater(level);
      this.#out.write(DEFLATE_MARKER);
    }
    await this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#busy || this.#starting || this.#queue.length === 0) return;
    this.#busy = true;
    while (this.#queue.length > 0 && !this.#out.destroyed) {
      const block = this.#takeBlock();
      const failure = await this.#send(Buffer.concat(block.map(({ bytes }) => bytes))).catch(toError);
      for (const { done } of block) done?.(failure ?? null);
    }
    this.#busy = false;
    if (this.#ending && this.#queue.length === 0) this.#out.end();
  }

  async #send(raw: Buffer): Promise<undefined> {
    await this.#adjust();
    const started = performance.now();
    const sent = this.#deflater === undefined ? raw : await this.#deflater.deflate(raw);
    const deflated = performance.now();
    await writeTo(this.#out, sent);
    const sendMs = performance.now() - deflated;
    const sizes = { rawBytes: raw.length, sentBytes: sent.length };
    if (this.#deflater === undefined) {
      this.#endsLine = raw.at(-1) === NEWLINE;
      this.#pace?.notePlain(raw.length, sendMs);
    } else this.#pace?.noteDeflated({ ...sizes, deflateMs: deflated - started, sendMs });
    this.#queuedBytes -= raw.length;
    this.#rawBytes += sizes.rawBytes;
    this.#sentBytes += sizes.sentBytes;
    return undefined;
  }

  #takeBlock(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#queue) {
      if (count > 0 && bytes + waiting.bytes.length > BLOCK_BYTES) break;
      bytes += waiting.bytes.length;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** To the level that the pace has come to; with 0 the deflate is brought to its end, and lines follow. */
  async #adjust(): Promise<void> {
    const level = this.#pace?.level ?? this.#level;
    const deflater = this.#deflater;
    if (deflater === undefined || level === this.#level) return;
    this.#level = level;
    if (level === 0) this.#deflater = undefined;
    const last = level === 0 ? await deflater.finish() : await deflater.setLevel(level);
    if (last.length > 0) await writeTo(this.#out, last);
    this.#sentBytes += last.length;
  }
}

function writeTo(out: ByteSink, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    out.write(bytes, (error) => (error === undefined || error === null ? resolve() : reject(error)));
  });
}
