// Our end of a terminal: read to the very last byte, written to without ever waiting.

import { readSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { errnoOf } from '../../base/errors.js';
import { bun } from '../runtime/bun.js';
import { BunReader } from '../runtime/bun-reader.js';
import { addMaster, removeMaster } from '../process/open-masters.js';

/** The kernel keeps 8 KiB on the way to us, and 4 KiB ready to be read. Taken after the end of a program at most. */
export const MAX_REST_BYTES = 64 * 1024;

const REST_CHUNK_BYTES = 8 * 1024;

export interface MasterSink {
  /** The chunk is the sink's to keep. False: no more for now, until `resume`. */
  data(chunk: Buffer): boolean;
  /** Once, when there is nothing more to come and the descriptor is closed. */
  end(): void;
}

export class Master {
  readonly fd: number;
  readonly #stream: ReadStream | BunReader;
  readonly #sink: MasterSink;

  constructor(fd: number, sink: MasterSink) {
    this.fd = fd;
    this.#sink = sink;
    addMaster(fd);
    this.#stream = bun === undefined ? this.#openStream() : this.#openReader();
  }

  /** While true the descriptor is ours; afterwards its number may be anyone's. */
  get open(): boolean {
    return !this.#stream.destroyed;
  }

  resume(): void {
    if (this.open) this.#stream.resume();
  }

  /** How many bytes the terminal has taken: none when it is full. Throws when nobody can read them any more. */
  write(bytes: Uint8Array): number {
    try {
      return writeSync(this.fd, bytes);
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN') return 0;
      throw error;
    }
  }

  /** Hands over what lies in the terminal at this moment, then closes it. Whoever still has the other end is hung up. */
  finish(): void {
    if (!this.open) return;
    if (this.#stream instanceof BunReader) return this.#stream.finish(MAX_REST_BYTES);
    this.#stream.read(); // what was held back in a pause; it goes to the sink as any other chunk
    for (let total = 0; total < MAX_REST_BYTES; ) {
      const chunk = this.#readNow();
      if (chunk === undefined) break;
      total += chunk.length;
      this.#sink.data(chunk);
    }
    this.#stream.destroy();
  }

  #openStream(): ReadStream {
    const stream = new ReadStream(this.fd);
    stream.on('data', (chunk: Buffer) => {
      if (!this.#sink.data(chunk)) stream.pause();
    });
    // libuv reports the end as soon as the last program has let go of the terminal, also with data still to be read.
    stream.once('end', () => this.finish());
    stream.on('error', () => {}); // EIO is how a terminal ends; 'close' follows
    stream.once('close', () => this.#ended());
    return stream;
  }

  #openReader(): BunReader {
    return new BunReader(this.fd, {
      chunkBytes: REST_CHUNK_BYTES,
      data: (chunk) => this.#sink.data(chunk),
      end: () => this.#ended(),
    });
  }

  #ended(): void {
    removeMaster(this.fd);
    this.#sink.end();
  }

  /** The descriptor does not block: an empty terminal is an error (EAGAIN), and so is one that has ended (EIO). */
  #readNow(): Buffer | undefined {
    const chunk = Buffer.allocUnsafe(REST_CHUNK_BYTES);
    try {
      const length = readSync(this.fd, chunk);
      return length === 0 ? undefined : chunk.subarray(0, length);
    } catch {
      return undefined;
    }
  }
}
