// Writes to a pipe under Bun, which has no stream over a descriptor that leaves the thread pool to others.

import { closeSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { errnoOf } from '../../base/errors.js';

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 20;

type Done = (error?: Error | null) => void;

export class BunWriter extends Writable {
  readonly #fd: number;
  #timer: NodeJS.Timeout | undefined;

  /** `fd` does not block, and is closed in the end. */
  constructor(fd: number) {
    super({ decodeStrings: true });
    this.#fd = fd;
  }

  /** Nothing to do, as for reading. */
  unref(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#put(chunk, 0, FIRST_PAUSE_MS, done);
  }

  override _destroy(error: Error | null, done: Done): void {
    clearTimeout(this.#timer);
    closeSync(this.#fd);
    done(error);
  }

  /** A full pipe is tried again: there is no event for "it has room". */
  #put(chunk: Buffer, from: number, pauseMs: number, done: Done): void {
    let at = from;
    try {
      while (at < chunk.length) at += writeSync(this.#fd, chunk, at);
      done();
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN') return done(error as Error);
      const nextMs = at > from ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      this.#timer = setTimeout(() => this.#put(chunk, at, nextMs, done), pauseMs);
    }
  }
}
