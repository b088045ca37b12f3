// Standard error that never makes the bus wait: a reader who does not read misses lines, and nobody else notices.

import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';

/** Lines that wait for the reader of stderr; past it they are left out, and it is said how many when there is room again. */
export const MAX_UNREAD_STDERR_BYTES = 1024 * 1024;
/** At the end, for what still waits: a reader who is there takes it at once. */
const FLUSH_MS = 250;
const STDERR = 2;

export class StderrWriter {
  readonly #out: Writable | undefined;
  #left = 0;

  /** By default on our own stderr. */
  constructor(out: Writable | undefined = openPipe()) {
    this.#out = out;
    out?.on('error', () => {}); // whoever read it has left
  }

  /** `text` is whole lines. */
  readonly write = (text: string): void => {
    const out = this.#out;
    if (out === undefined) return writeNow(text);
    if (out.destroyed) return;
    if (out.writableLength > MAX_UNREAD_STDERR_BYTES) {
      this.#left += 1;
      return;
    }
    if (this.#left > 0) out.write(`stdio-bus: ${this.#left} lines were left out: nobody read stderr\n`);
    this.#left = 0;
    out.write(text);
  };

  async flush(): Promise<void> {
    const out = this.#out;
    if (out === undefined || out.writableLength === 0 || out.destroyed) return;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, FLUSH_MS);
      out.write('', () => resolve());
    });
  }
}

/**
 * A pipe is opened once more: whether it blocks belongs to the open file, which others may share. A socket, which Node gives
 * its children for a pipe, is ours alone. Undefined for a file or a terminal, which take what they are given.
 */
function openPipe(): Writable | undefined {
  try {
    const stat = fstatSync(STDERR);
    if (!stat.isFIFO() && !stat.isSocket()) return undefined;
    const fd = stat.isSocket()
      ? STDERR
      : openSync(`/proc/self/fd/${STDERR}`, constants.O_WRONLY | constants.O_NONBLOCK);
    const out = new Socket({ fd, readable: false, writable: true });
    out.unref();
    return out;
  } catch {
    return undefined;
  }
}

function writeNow(text: string): void {
  try {
    writeSync(STDERR, text);
  } catch {
    // Nobody is there to be told.
  }
}
