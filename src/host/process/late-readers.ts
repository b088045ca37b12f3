// Lets programs in that open /dev/stdin after the end of their input: on a pipe with a name they would wait for ever.

import { closeSync, constants, openSync } from 'node:fs';

const O_PATH = 0o10000000; // not among Node's constants; the same on every architecture Node runs on under Linux
const FIRST_PAUSE_MS = 1;
/** The longest such a program waits. Each look is two system calls. */
export const LATE_READER_WAIT_MS = 64;

/**
 * To open a FIFO for reading waits until someone has opened it for writing, whether or not that one is still there. An
 * ordinary pipe does not make its readers wait, but Node has none to give. So we open and close the writing end now and then as
 * long as there are readers: who waits is let in and finds what was written, or the end.
 */
export class LateReaders {
  #held: number | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;

  /** `fifo` is a descriptor of the writing end, to be closed by its owner. */
  constructor(fifo: number) {
    try {
      this.#held = openSync(`/proc/self/fd/${fifo}`, O_PATH); // holds the place, and is neither reader nor writer
      this.#lookLater();
    } catch {
      // No /proc: then there is no /dev/stdin either.
    }
  }

  /** Ends the watch when nobody is left who could open it. */
  look(): void {
    if (this.#held === undefined) return;
    clearTimeout(this.#timer);
    if (letIn(this.#held)) return this.#lookLater();
    closeSync(this.#held);
    this.#held = undefined;
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => this.look(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LATE_READER_WAIT_MS);
  }
}

/** False when there is no reader (ENXIO), or no way to tell. */
function letIn(held: number): boolean {
  try {
    closeSync(openSync(`/proc/self/fd/${held}`, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    return false;
  }
}
