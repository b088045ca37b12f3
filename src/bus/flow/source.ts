// Reads from a pipe, socket or stream into one block that all sources share, and can be told to wait.

import { createReadStream } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable } from 'node:stream';
import { toError } from '../../base/errors.js';
import { newReadSlab, SLAB_BYTES, type Slab } from './slab.js';

export interface SourceSink {
  /** What was read is `slab.bytes[0, length)`, until this returns. One more byte may be written behind it. */
  data(slab: Slab, length: number): void;
  end(): void;
  broken(error: Error): void;
}

const shared = newReadSlab(SLAB_BYTES + 8);
const sharedRoom = shared.bytes.subarray(0, SLAB_BYTES);
/** A stream in this process can answer while what it answers is still being read: then its bytes wait. */
let reading = false;

export class Source {
  readonly #stream: Readable;
  readonly #sink: SourceSink;
  /** Chunks that a stream has handed over and that could not be taken yet. */
  #waiting: Buffer[] = [];
  #paused = false;
  #planned = false;
  #streamEnded = false;
  #ended = false;

  constructor(from: number | Readable, sink: SourceSink) {
    this.#sink = sink;
    this.#stream = typeof from === 'number' ? this.#openDescriptor(from) : this.#listen(from);
    this.#stream.once('end', () => this.#end());
    this.#stream.once('close', () => this.#end());
    this.#stream.on('error', (error) => sink.broken(error));
    this.#stream.resume();
  }

  pause(): void {
    this.#paused = true;
    this.#stream.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#waiting.length > 0) this.#planTake();
    else if (!this.#stream.destroyed) this.#stream.resume();
  }

  destroy(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#stream.destroy();
  }

  #openDescriptor(fd: number): Readable {
    // Node's types know `onread` for `connect` alone, its documentation for both.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd,
      readable: true,
      writable: false,
      onread: {
        buffer: sharedRoom,
        callback: (length) => {
          this.#take(length);
          return true;
        },
      },
    };
    try {
      return new Socket(options);
    } catch (thrown) {
      if ((toError(thrown) as NodeJS.ErrnoException).code !== 'ERR_INVALID_FD_TYPE') throw thrown;
      return this.#listen(createReadStream('', { fd })); // a file, where a pipe was meant to be
    }
  }

  #listen(stream: Readable): Readable {
    if (stream.constructor === Socket) this.#takeFirst(stream);
    return stream.on('data', (chunk: Buffer | string) => {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      if (reading || this.#paused || this.#waiting.length > 0) {
        this.#waiting.push(bytes);
        this.#planTake();
      } else this.#takeChunk(bytes);
    });
  }

  /**
   * What a socket reads is taken before it is queued by the stream, which costs a turn of the tick queue for each chunk.
   * It is left to the stream whenever it has to wait, or something before it does: its order and its pauses are Node's.
   */
  #takeFirst(stream: Readable): void {
    const push = stream.push.bind(stream);
    stream.push = (chunk: Buffer | null): boolean => {
      if (chunk === null || reading || this.#paused || this.#ended) return push(chunk);
      if (this.#waiting.length > 0 || stream.readableLength > 0) return push(chunk);
      this.#takeChunk(chunk);
      return true;
    };
  }

  /** A chunk may be of any length: what is left of it when we are told to wait waits with us. */
  #takeChunk(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.#paused && !this.#ended) {
      const length = Math.min(SLAB_BYTES, chunk.length - at);
      chunk.copy(shared.bytes, 0, at, at + length);
      at += length;
      this.#take(length);
    }
    if (at < chunk.length && !this.#ended) this.#waiting.unshift(chunk.subarray(at));
  }

  #take(length: number): void {
    reading = true;
    try {
      this.#sink.data(shared, length);
    } finally {
      reading = false;
    }
  }

  #planTake(): void {
    if (this.#planned || this.#paused) return;
    this.#planned = true;
    queueMicrotask(() => {
      this.#planned = false;
      while (this.#waiting.length > 0 && !this.#paused) this.#takeChunk(this.#waiting.shift() as Buffer);
      if (this.#paused || this.#ended) return;
      if (this.#streamEnded) this.#end();
      else this.#stream.resume();
    });
  }

  #end(): void {
    this.#streamEnded = true;
    if (this.#ended || this.#waiting.length > 0) return;
    this.#ended = true;
    this.#sink.end();
  }
}
