// What is typed into a terminal: kept in order, and fed as fast as the program takes it.

import { InputClosedError, InputFullError } from '../process/input-pipe.js';

/** Bytes accepted and not yet taken by the program, so that one which does not read cannot fill our memory. */
export const MAX_PENDING_INPUT_BYTES = 4 * 1024 * 1024;

/** Handed over in one go at most, so that a large paste leaves the event loop to others in between. */
const BURST_BYTES = 64 * 1024;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

interface Pending {
  readonly bytes: Uint8Array;
  at: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export class TerminalInput {
  readonly #put: (bytes: Uint8Array) => number;
  readonly #queue: Pending[] = [];
  #pendingBytes = 0;
  #pauseMs = 0;
  #cancelTurn: (() => void) | undefined;
  #closed = false;

  /** `put` takes what it can without waiting and says how much, or throws when there is no reader any more. */
  constructor(put: (bytes: Uint8Array) => number) {
    this.#put = put;
  }

  /** Resolves when the terminal has taken all of it. The bytes must stay as they are until then. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.reject(new InputClosedError());
    if (this.#pendingBytes + bytes.length > MAX_PENDING_INPUT_BYTES)
      return Promise.reject(new InputFullError(MAX_PENDING_INPUT_BYTES));
    return new Promise((resolve, reject) => {
      this.#queue.push({ bytes, at: 0, resolve, reject });
      this.#pendingBytes += bytes.length;
      if (this.#cancelTurn === undefined) this.#feed();
    });
  }

  close(cause?: unknown): void {
    this.#closed = true;
    this.#cancelTurn?.();
    this.#pendingBytes = 0;
    for (const { reject } of this.#queue.splice(0)) reject(new InputClosedError(cause));
  }

  #feed(): void {
    this.#cancelTurn = undefined;
    for (let burst = 0; burst < BURST_BYTES; ) {
      const next = this.#queue[0];
      if (next === undefined) return;
      let taken: number;
      try {
        taken = next.at === next.bytes.length ? 0 : this.#put(next.bytes.subarray(next.at));
      } catch (error) {
        return this.close(error);
      }
      next.at += taken;
      this.#pendingBytes -= taken;
      burst += taken;
      if (next.at === next.bytes.length) {
        this.#queue.shift();
        next.resolve();
      } else if (taken === 0) return this.#tryLater();
      this.#pauseMs = 0;
    }
    const turn = setImmediate(() => this.#feed());
    this.#cancelTurn = () => clearImmediate(turn);
  }

  /** There is no event for "it has room again": the reading side has the descriptor's place in the event loop. */
  #tryLater(): void {
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, FIRST_PAUSE_MS), LONGEST_PAUSE_MS);
    const timer = setTimeout(() => this.#feed(), this.#pauseMs);
    this.#cancelTurn = () => clearTimeout(timer);
  }
}
