// Answers that may be long: a few are made at a time, and none while the client does not take those that are there.
//
// A client may send a thousand reads in one go. Without this, all of them would be in memory before the first is sent.

import { RawJson } from '../wire/jsonrpc/encode.js';

/** So many of these fit into what may wait for a client, whatever else does. */
const SHORT_BYTES = 64 * 1024;

export interface LongAnswersOptions {
  readonly maxAtOnce: number;
  /** Whether the client has yet to take what was sent. */
  readonly isCongested: () => boolean;
  /** Settles when it has, or is gone. */
  readonly drained: () => Promise<void>;
}

export class LongAnswers {
  readonly #options: LongAnswersOptions;
  readonly #waiting: (() => void)[] = [];
  #making = 0;
  #draining = false;
  #gone = false;

  constructor(options: LongAnswersOptions) {
    this.#options = options;
  }

  /** At once where there is room, and then without a detour if `make` needs none; else in turn. */
  run<T>(make: () => T | Promise<T>): T | Promise<T> {
    if (this.#waiting.length === 0 && this.#hasRoom()) return this.#make(make);
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(this.#make(make));
        } catch (thrown) {
          reject(thrown);
        }
      });
      this.#pump();
    });
  }

  #make<T>(make: () => T | Promise<T>): T | Promise<T> {
    this.#making += 1;
    let result: T | Promise<T>;
    try {
      result = make();
    } catch (thrown) {
      this.#made();
      throw thrown;
    }
    // Its turn is over when the answer has been queued, which may be some promises later: only then can it be seen
    // whether there is room for another. One that is short needs no such care.
    const made = (): void => void setImmediate(() => this.#made());
    if (result instanceof Promise) result.then(made, made);
    else if (isLong(result)) made();
    else this.#made();
    return result;
  }

  #made(): void {
    this.#making -= 1;
    this.#pump();
  }

  #hasRoom(): boolean {
    return this.#making < this.#options.maxAtOnce && !this.#mustDrain();
  }

  #mustDrain(): boolean {
    return !this.#gone && this.#options.isCongested();
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#hasRoom()) this.#waiting.shift()?.();
    if (this.#waiting.length > 0 && this.#mustDrain()) void this.#pumpWhenDrained();
  }

  async #pumpWhenDrained(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    try {
      await this.#options.drained();
    } catch {
      this.#gone = true; // what waits is made for nobody, and ends
    }
    this.#draining = false;
    this.#pump();
  }
}

function isLong(result: unknown): boolean {
  return result instanceof RawJson && result.json.length > SHORT_BYTES;
}
