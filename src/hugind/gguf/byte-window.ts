// The beginning of a file, read forward in windows: whatever its header claims, no more than one window is in memory.

import type { FileHandle } from 'node:fs/promises';
import { GgufError } from './gguf-error.js';

const WINDOW_BYTES = 256 * 1024;

export class ByteWindow {
  readonly #file: FileHandle;
  readonly #size: number;
  readonly #end: number;
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;
  #at = 0;

  /** Nothing past `maxBytes` is read. */
  constructor(file: FileHandle, size: number, maxBytes: number) {
    this.#file = file;
    this.#size = size;
    this.#end = Math.min(size, maxBytes);
  }

  get position(): number {
    return this.#at;
  }

  async u8(): Promise<number> {
    return (await this.#take(1)).readUInt8();
  }

  async u32(): Promise<number> {
    return (await this.#take(4)).readUInt32LE();
  }

  async i32(): Promise<number> {
    return (await this.#take(4)).readInt32LE();
  }

  async f32(): Promise<number> {
    return (await this.#take(4)).readFloatLE();
  }

  async f64(): Promise<number> {
    return (await this.#take(8)).readDoubleLE();
  }

  async i64(): Promise<number> {
    return Number((await this.#take(8)).readBigInt64LE());
  }

  /** A count or a length; past 2⁵³ it is no longer exact, and too large for anything anyway. */
  async u64(): Promise<number> {
    return Number((await this.#take(8)).readBigUInt64LE());
  }

  async text(maxBytes: number, what: string): Promise<string> {
    const length = await this.u64();
    if (length > maxBytes) throw new GgufError(`${what} has ${length} bytes, at most ${maxBytes} are read`);
    return (await this.#take(length)).toString('utf8');
  }

  /** Past what is not of interest. */
  skip(bytes: number): void {
    if (bytes > this.#end - this.#at) throw this.#tooShort();
    this.#at += bytes;
  }

  async #take(bytes: number): Promise<Buffer> {
    if (bytes > this.#end - this.#at) throw this.#tooShort();
    let from = this.#at - this.#windowAt;
    if (from < 0 || from + bytes > this.#window.length) {
      const window = Buffer.allocUnsafe(Math.min(Math.max(bytes, WINDOW_BYTES), this.#end - this.#at));
      const { bytesRead } = await this.#file.read(window, 0, window.length, this.#at);
      if (bytesRead < bytes) throw this.#tooShort();
      this.#window = window.subarray(0, bytesRead);
      this.#windowAt = this.#at;
      from = 0;
    }
    this.#at += bytes;
    return this.#window.subarray(from, from + bytes);
  }

  #tooShort(): GgufError {
    return new GgufError(
      this.#end < this.#size
        ? 'its header is larger than any model needs'
        : 'the file ends within its header',
    );
  }
}
