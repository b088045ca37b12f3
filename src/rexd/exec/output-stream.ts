// One output of a process on its way to the client: within the budget, kept for exec.read, cut between characters.

import { incompleteTail } from '../../base/utf8.js';
import { coalesce, COALESCE_BYTES, type ChunkSource } from './coalesce.js';
import type { OutputBudget } from './output-budget.js';
import type { OutputFramer } from './output-frame.js';

/**
 * Where events go: a line with its newline, lent for the call. Resolves when there is room for more. Never rejects: a
 * client that is gone takes everything.
 */
export type EventSink = (frame: Uint8Array) => Promise<void> | undefined;

export interface OutputStreamOptions {
  readonly source: ChunkSource;
  readonly budget: OutputBudget;
  readonly framer: OutputFramer;
  /** Keeps what is delivered, for exec.read. */
  readonly spool: { append(bytes: Uint8Array): Promise<void> | undefined };
  readonly sink: EventSink;
}

export class OutputStream {
  readonly #options: OutputStreamOptions;
  /** The start of a character whose other bytes have not come yet. */
  #held: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #over = false;
  #grown: { readonly promise: Promise<void>; readonly tell: () => void } | undefined;

  constructor(options: OutputStreamOptions) {
    this.#options = options;
  }

  /** Bytes delivered so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether all of it has been delivered. */
  get over(): boolean {
    return this.#over;
  }

  /** Resolves when more has been delivered, or all of it. */
  grown(): Promise<void> {
    if (this.#over) return Promise.resolve();
    if (this.#grown === undefined) {
      let tell = (): void => {};
      const promise = new Promise<void>((resolve) => (tell = resolve));
      this.#grown = { promise, tell };
    }
    return this.#grown.promise;
  }

  /** Resolves when all of the output has been sent, or the budget is spent. Nothing is pulled while nobody takes it. */
  async run(): Promise<void> {
    const { source, budget } = this.#options;
    for await (const chunk of coalesce(source)) {
      const granted = budget.spend(chunk);
      await this.#deliver(granted, false);
      if (budget.exceeded) break;
    }
    await this.#deliver(Buffer.alloc(0), true);
    this.#over = true;
    this.#tellGrown();
  }

  #tellGrown(): void {
    const grown = this.#grown;
    this.#grown = undefined;
    grown?.tell();
  }

  async #deliver(chunk: Buffer, last: boolean): Promise<void> {
    const { spool } = this.#options;
    if (chunk.length > 0) await spool.append(chunk);
    this.#bytes += chunk.length;
    if (this.#grown !== undefined) this.#tellGrown();
    const joined = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const keep = last ? 0 : incompleteTail(joined);
    this.#held = Buffer.from(joined.subarray(joined.length - keep));
    for (let at = 0, end = joined.length - keep; at < end; ) {
      const piece = this.#cut(joined.subarray(at, end));
      at += piece.length;
      await this.#send(piece);
    }
  }

  /** At most COALESCE_BYTES, on a character's border where there is one. */
  #cut(bytes: Buffer): Buffer {
    if (bytes.length <= COALESCE_BYTES) return bytes;
    const piece = bytes.subarray(0, COALESCE_BYTES);
    return piece.subarray(0, piece.length - incompleteTail(piece));
  }

  async #send(piece: Buffer): Promise<void> {
    const { sink, framer } = this.#options;
    await sink(framer.frame(piece));
  }
}
