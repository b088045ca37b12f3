// Reads an output of a child from its FIFO: by a look or two while the child is young, by the event loop from then on.

import { closeSync, readSync } from 'node:fs';
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { bun } from '../runtime/bun.js';
import { BunReader } from '../runtime/bun-reader.js';
import { CHUNK_BYTES, type PipeSink, type PipeSource, readNow, scratch } from './pipe-source.js';
import { withoutTrace } from './without-trace.js';

/**
 * Most commands write little and end within moments, and to wait for them in the event loop (a stream, its buffers, its
 * end) costs more than all else we do for them. So there is a look at the pipe after this long, and another after twice
 * as much; whoever has written something, or lives on, is worth a stream.
 */
const LOOK_MS = 1;
const LOOKS = 2;
/** What a full pipe holds, and its end. */
const CHUNKS_AT_ONCE = 3;

/** `fd` does not block, and is closed when the sink is told of the end. */
export function readFifo(fd: number, sink: PipeSink): PipeSource {
  return new FifoReader(fd, sink);
}

class FifoReader implements PipeSource {
  readonly #fd: number;
  readonly #sink: PipeSink;
  #socket: Socket | BunReader | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #held = true;
  #paused = false;
  #over = false;

  constructor(fd: number, sink: PipeSink) {
    this.#fd = fd;
    this.#sink = sink;
    this.#timer = setTimeout(() => this.#lookAgain(), LOOK_MS);
  }

  resume(): void {
    this.#paused = false;
    if (this.#socket === undefined) this.#listen();
    else this.#socket.resume();
  }

  /** All that the leader has written is there, and mostly nobody else has the pipe: then this is the end of it. */
  lookNow(): void {
    if (this.#socket !== undefined || this.#over || this.#paused) return;
    this.#look();
    this.#listen();
  }

  takeRest(maxBytes: number): Buffer[] {
    return this.#over ? [] : readNow(this.#fd, maxBytes);
  }

  unref(): void {
    this.#held = false;
    this.#timer?.unref();
    this.#socket?.unref();
  }

  destroy(): void {
    if (this.#socket === undefined) this.#end();
    else this.#socket.destroy();
    this.#over = true;
  }

  #lookAgain(): void {
    this.#looks += 1;
    if (this.#look() || this.#looks === LOOKS) return this.#listen();
    this.#timer = setTimeout(() => this.#lookAgain(), LOOK_MS * 2);
    if (!this.#held) this.#timer.unref();
  }

  /** True when something was there. */
  #look(): boolean {
    for (let chunks = 0; chunks < CHUNKS_AT_ONCE && !this.#paused; chunks++) {
      const length = tryToRead(this.#fd);
      if (length === undefined) return chunks > 0;
      if (length === 0) {
        this.#end();
        break;
      }
      this.#paused = !this.#sink.data(Buffer.from(scratch.subarray(0, length)));
    }
    return true;
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    closeSync(this.#fd);
    this.#sink.end();
  }

  #listen(): void {
    clearTimeout(this.#timer);
    if (this.#over || this.#paused || this.#socket !== undefined) return;
    this.#socket = bun === undefined ? this.#openSocket() : this.#openReader();
  }

  #openReader(): BunReader {
    return new BunReader(this.#fd, {
      chunkBytes: CHUNK_BYTES,
      data: (chunk) => this.#sink.data(chunk),
      end: () => {
        this.#over = true;
        this.#sink.end();
      },
    });
  }

  #openSocket(): Socket {
    // Node's types know `onread` for `connect` alone, its documentation for both.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = {
      fd: this.#fd,
      readable: true,
      writable: false,
      onread: {
        buffer: scratch,
        callback: (length) => this.#sink.data(Buffer.from(scratch.subarray(0, length))),
      },
    };
    const socket = new Socket(options);
    socket.on('error', () => {}); // 'close' follows, and is all we need to know
    socket.once('close', () => {
      this.#over = true;
      this.#sink.end();
    });
    if (!this.#held) socket.unref();
    return socket;
  }
}

/** Undefined when the pipe is empty for now, or cannot be read; a stream will tell which. */
function tryToRead(fd: number): number | undefined {
  try {
    return withoutTrace(() => readSync(fd, scratch, 0, CHUNK_BYTES, null));
  } catch {
    return undefined;
  }
}
