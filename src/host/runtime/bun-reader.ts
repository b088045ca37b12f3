// Reads a pipe or a terminal by Bun's event loop; Node's sockets and terminals over a descriptor are not to be had there.

import { closeSync } from 'node:fs';
import { bun } from './bun.js';

/** How long a descriptor that is to be closed may stay silent until all that was written has come. */
const QUIET_MS = 10;

export interface BunReaderOptions {
  /** Larger chunks come in pieces. */
  readonly chunkBytes: number;
  /** For a standard stream: the next file to be opened would get its number. */
  readonly keepOpen?: boolean;
  /** The chunk is the receiver's to keep. False: no more for now, until `resume`. */
  readonly data: (chunk: Buffer) => boolean;
  /** Once, when there is nothing more to come and the descriptor is closed. */
  readonly end: () => void;
}

export class BunReader {
  readonly #fd: number;
  readonly #options: BunReaderOptions;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #paused = false;
  #reading = false;
  #over = false;
  /** Bytes that may still come before it is closed; undefined while it is not to be. */
  #rest: number | undefined;
  #quiet: NodeJS.Timeout | undefined;

  constructor(fd: number, options: BunReaderOptions) {
    if (bun === undefined) throw new TypeError('this is not Bun');
    this.#fd = fd;
    this.#options = options;
    this.#reader = bun.file(fd).stream().getReader();
    void this.#readOn();
  }

  get destroyed(): boolean {
    return this.#over;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    void this.#readOn();
  }

  /** Nothing to do: a server ends by its own decision, not because nobody is left to wait for. */
  unref(): void {}

  /** Hands over what was written until now, whether or not it is wanted, then closes. The stream may hold some of it already. */
  finish(maxBytes: number): void {
    if (this.#over || this.#rest !== undefined) return;
    this.#rest = maxBytes;
    this.#closeWhenQuiet();
    this.resume();
  }

  destroy(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#quiet);
    this.#reader.cancel().catch(() => {});
    if (this.#options.keepOpen !== true) closeSync(this.#fd);
    this.#options.end();
  }

  async #readOn(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    try {
      while (!this.#paused && !this.#over) {
        const { done, value } = await this.#reader.read();
        if (done || this.#over) return this.destroy();
        this.#take(value);
      }
    } catch {
      this.destroy(); // EIO is how a terminal ends
    } finally {
      this.#reading = false;
    }
  }

  #take(bytes: Uint8Array): void {
    const { chunkBytes, data } = this.#options;
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < all.length; at += chunkBytes)
      if (!data(all.subarray(at, at + chunkBytes))) this.#paused = this.#rest === undefined;
    if (this.#rest === undefined) return;
    this.#rest -= all.length;
    if (this.#rest <= 0) this.destroy();
    else this.#closeWhenQuiet();
  }

  #closeWhenQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.destroy(), QUIET_MS);
  }
}
