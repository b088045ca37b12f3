// Standard streams before there are streams: loading node:net and node:stream takes as long as all else that a first
// answer needs. So the first bytes are read, and the first short answers written, by plain system calls.

import { EventEmitter } from 'node:events';
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import type { ByteSink, ByteSource, Link, StreamLink } from './link.js';

/** What the first look at standard input takes at most. */
export const FIRST_READ_BYTES = 64 * 1024;
/** What may be written before there are streams. A pipe takes this much whole, so that nobody has to wait for a reader. */
export const MAX_EARLY_WRITE_BYTES = 4096;

const STDIN = 0;
const STDOUT = 1;

/**
 * What the client has sent so far, or undefined when there is no telling without streams. On a socket this blocks until
 * something comes, timers and signal handlers included: call it when nothing else is under way yet, and before any
 * handler is set, so that a signal still ends the process.
 */
export function readFirstBytes(): Buffer | undefined {
  try {
    const stat = fstatSync(STDIN);
    if (stat.isSocket()) return readOnce(STDIN);
    if (stat.isFIFO()) return readWithoutWaiting();
  } catch {
    // Nothing there yet, or nothing to read from: the streams will find out which.
  }
  return undefined;
}

/** A link that has `first` already, and makes the streams of `open` only when they are needed. */
export function earlyLink(first: Buffer, open: () => StreamLink): Link {
  let opened: StreamLink | undefined;
  const streams = (): StreamLink => (opened ??= open());
  return {
    input: new EarlyInput(first, () => streams().input),
    output: new EarlyOutput(() => streams().output),
    name: 'stdio',
    close: () => streams().close(),
  };
}

class EarlyInput extends EventEmitter implements ByteSource {
  readonly #open: () => StreamLink['input'];
  #stream: StreamLink['input'] | undefined;
  #first: Buffer | undefined;
  #paused = false;

  constructor(first: Buffer, open: () => StreamLink['input']) {
    super();
    this.#first = first;
    this.#open = open;
    queueMicrotask(() => this.#begin());
  }

  get destroyed(): boolean {
    return this.#stream?.destroyed ?? false;
  }

  get readableEnded(): boolean {
    return this.#stream?.readableEnded ?? false;
  }

  isPaused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#first !== undefined) this.#begin();
    else this.#stream?.resume();
  }

  /** After the answer to the first bytes, if they had one: whoever asked is not to wait for the loading. */
  #begin(): void {
    const first = this.#first;
    if (this.#paused || first === undefined) return;
    this.#first = undefined;
    if (first.length > 0) this.emit('data', first);
    setImmediate(() => this.#goOn());
  }

  #goOn(): void {
    const stream = this.#open();
    this.#stream = stream;
    stream.on('data', (chunk) => this.emit('data', chunk));
    for (const event of ['end', 'close'] as const) stream.on(event, () => this.emit(event));
    stream.on('error', (error) => this.emit('error', error));
    if (this.#paused) stream.pause();
  }
}

class EarlyOutput extends EventEmitter implements ByteSink {
  readonly #open: () => StreamLink['output'];
  #stream: StreamLink['output'] | undefined;
  #written = 0;

  constructor(open: () => StreamLink['output']) {
    super();
    this.#open = open;
  }

  get destroyed(): boolean {
    return this.#stream?.destroyed ?? false;
  }

  get writableEnded(): boolean {
    return this.#stream?.writableEnded ?? false;
  }

  get writableLength(): number {
    return this.#stream?.writableLength ?? 0;
  }

  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): boolean {
    if (this.#stream !== undefined) return this.#stream.write(chunk, done);
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const taken = this.#writeNow(bytes);
    if (taken < bytes.length) return this.#streamed().write(bytes.subarray(taken), done);
    if (done !== undefined) process.nextTick(done);
    return true;
  }

  cork(): void {
    this.#stream?.cork();
  }

  uncork(): void {
    this.#stream?.uncork();
  }

  end(): void {
    this.#streamed().end();
  }

  /** How much went out. What did not, and why, is for the stream to see. */
  #writeNow(bytes: Uint8Array): number {
    if (this.#written + bytes.length > MAX_EARLY_WRITE_BYTES) return 0;
    try {
      const taken = writeSync(STDOUT, bytes);
      this.#written += taken;
      return taken;
    } catch {
      return 0;
    }
  }

  #streamed(): StreamLink['output'] {
    if (this.#stream !== undefined) return this.#stream;
    const stream = this.#open();
    this.#stream = stream;
    stream.on('error', (error) => {
      if (this.listenerCount('error') > 0) this.emit('error', error);
      else this.#tellLater(error);
    });
    for (const event of ['finish', 'close'] as const) stream.on(event, () => this.emit(event));
    return stream;
  }

  /** The first answer is written before anybody listens. Whoever does later learns of the error first, and of the end after. */
  #tellLater(error: Error): void {
    const tell = (event: string, listener: (error: Error) => void): void => {
      if (event !== 'error') return;
      this.off('newListener', tell);
      listener(error);
    };
    this.on('newListener', tell);
  }
}

/** A second look at the same pipe, whose own setting says not to wait; the client shares the first one's with us. */
function readWithoutWaiting(): Buffer {
  const again = openSync(`/proc/self/fd/${STDIN}`, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readOnce(again);
  } finally {
    closeSync(again);
  }
}

function readOnce(fd: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(FIRST_READ_BYTES);
  return bytes.subarray(0, readSync(fd, bytes, 0, FIRST_READ_BYTES, null));
}
