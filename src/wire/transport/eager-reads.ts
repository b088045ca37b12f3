// Looks for the next request right after an answer, before the process goes to sleep.
//
// A client that asks one thing after the other has its next request ready within microseconds, while to be put to sleep
// and woken again takes longer than most answers do. So after an answer we look a few times more, for as long as that
// would have taken anyway. Where it finds nothing it soon stops looking (docs/decisions/0014).

import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';

/** For how long is looked: what sleeping and waking take, with a client that is itself woken and thinks for a moment. */
export const LOOK_MICROSECONDS = 70;
/** Requests in a row that are found so, before everybody else has a turn. */
export const MAX_FOUND_IN_A_ROW = 32;
/** Answers after which is not looked when nothing was found: doubled each time, up to this. */
export const MAX_ANSWERS_SKIPPED = 1024;
const READ_BYTES = 64 * 1024;

export class EagerReads {
  readonly #stream: Readable;
  readonly #tryRead: () => Buffer | undefined;
  #looking = false;
  #foundInARow = 0;
  #skip = 0;
  #skipNext = 1;

  /** `tryRead` takes what there is, without waiting, from where `stream` reads otherwise. */
  constructor(stream: Readable, tryRead: () => Buffer | undefined) {
    this.#stream = stream;
    this.#tryRead = tryRead;
  }

  /** To be called after each answer. */
  answered(): void {
    if (this.#looking) return;
    if (this.#skip > 0) {
      this.#skip -= 1;
      return;
    }
    if (this.#foundInARow >= MAX_FOUND_IN_A_ROW) {
      this.#foundInARow = 0;
      return;
    }
    this.#looking = true;
    queueMicrotask(() => this.#look());
  }

  #look(): void {
    this.#looking = false;
    const stream = this.#stream;
    if (stream.readableFlowing !== true || stream.readableLength > 0 || stream.destroyed) return;
    const bytes = this.#readSoon();
    if (bytes === undefined) {
      this.#foundInARow = 0;
      this.#skip = this.#skipNext;
      this.#skipNext = Math.min(this.#skipNext * 2, MAX_ANSWERS_SKIPPED);
      return;
    }
    this.#foundInARow += 1;
    this.#skipNext = 1;
    stream.emit('data', bytes);
  }

  #readSoon(): Buffer | undefined {
    const until = performance.now() + LOOK_MICROSECONDS / 1000;
    do {
      const bytes = this.#tryRead();
      if (bytes !== undefined) return bytes;
    } while (performance.now() < until);
    return undefined;
  }
}

/** What can be read from a descriptor in non-blocking mode. The end, and what goes wrong, are the stream's to find. */
export function readAtOnce(fd: number): Buffer | undefined {
  room ??= Buffer.allocUnsafeSlow(READ_BYTES);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // "nothing there yet" is an exception, and to write down where it came from takes long
  try {
    const count = readSync(fd, room, 0, READ_BYTES, null);
    return count === 0 ? undefined : Buffer.from(room.subarray(0, count));
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

let room: Buffer | undefined;
