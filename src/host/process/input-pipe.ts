// The way into a child: writes that wait for room, and an end of input that says so when nobody reads any more.

import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { errnoOf, LocalError } from '../../base/errors.js';
import { bun } from '../runtime/bun.js';
import { BunWriter } from '../runtime/bun-writer.js';
import { LateReaders } from './late-readers.js';

export class InputClosedError extends LocalError {
  override readonly name = 'InputClosedError';

  constructor(cause?: unknown) {
    super('input_closed', 'the process no longer reads its input', { cause });
  }
}

/** Bytes that wait for a child to read. One write may be larger when nothing waits, so that any message can be passed on. */
export const MAX_WAITING_INPUT_BYTES = 16 * 1024 * 1024;

export class InputFullError extends LocalError {
  override readonly name = 'InputFullError';

  constructor(limit: number) {
    super('input_full', `the program does not read: no more than ${limit} bytes may wait for it`, {
      facts: { limit },
    });
  }
}

export class InputPipe {
  /** The bare stream, for a caller who does its own writing. */
  readonly stream: Writable;
  /** Node drops the callbacks of writes that are under way when a stream is destroyed; these must still settle. */
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #fifo: number | undefined;
  #late: LateReaders | undefined;

  /** `fifo`: the descriptor of the stream, where that is a pipe with a name. */
  constructor(stream: Writable, fifo?: number) {
    this.stream = stream;
    this.#fifo = fifo;
    stream.on('error', () => {}); // EPIPE: each write learns of it by its own callback
    stream.once('close', () => {
      for (const fail of this.#waiting) fail(new InputClosedError());
      this.#waiting.clear();
    });
  }

  /**
   * Resolves when the bytes have been handed to the system; a child that does not read keeps the caller waiting. Rejects
   * with InputClosedError, or with InputFullError and nothing taken.
   */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#isFull(bytes)) return Promise.reject(new InputFullError(MAX_WAITING_INPUT_BYTES));
    return this.#run((done) => this.stream.write(bytes, done));
  }

  /**
   * The last bytes there are, and the end right behind them: in one step, so that nobody writes in between and the end
   * comes also when the caller does not wait for it. Rejects as `write` does; after InputFullError the input stays open.
   */
  async writeLast(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return await this.end();
    if (this.#isFull(bytes)) throw new InputFullError(MAX_WAITING_INPUT_BYTES);
    await Promise.all([this.write(bytes), this.end()]);
  }

  /** Closes the input after all that was written before. Ending twice is no error. */
  end(): Promise<void> {
    if (this.stream.writableEnded || this.stream.destroyed) return Promise.resolve();
    if (this.#fifo !== undefined) this.#late = new LateReaders(this.#fifo);
    return this.#run((done) => this.stream.end(done)).catch(() => {});
  }

  /**
   * False when nobody has the other end open any more. What lies in the pipe is lost then, which a write would tell, but
   * only the next one. True also where there is no way to know.
   */
  get hasReader(): boolean {
    if (this.#fifo === undefined || this.stream.destroyed) return true;
    try {
      closeSync(openSync(`/proc/self/fd/${this.#fifo}`, constants.O_WRONLY | constants.O_NONBLOCK));
      return true;
    } catch (thrown) {
      return errnoOf(thrown) !== 'ENXIO';
    }
  }

  unref(): void {
    (this.stream as Partial<Socket>).unref?.(); // that of a child has none under Bun
  }

  destroy(): void {
    this.stream.destroy();
    this.#late?.look();
  }

  #isFull(bytes: Uint8Array): boolean {
    const waiting = this.stream.writableLength;
    return waiting > 0 && waiting + bytes.length > MAX_WAITING_INPUT_BYTES;
  }

  #run(start: (done: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.stream.destroyed || this.stream.writableEnded) return reject(new InputClosedError());
      this.#waiting.add(reject);
      start((error) => {
        this.#waiting.delete(reject);
        // Node calls back without an error for a write that a destroyed stream has cut short.
        if ((error === undefined || error === null) && !this.stream.destroyed) resolve();
        else reject(new InputClosedError(error));
      });
    });
  }
}

/** The writing end of a child's input, which it can open again as /dev/stdin: a socket pair would refuse that. */
export function inputThroughFifo(fd: number): InputPipe {
  const options = { fd, readable: false, writable: true };
  return new InputPipe(bun === undefined ? new Socket(options) : new BunWriter(fd), fd);
}
