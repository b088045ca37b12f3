// So many at once and no more; the others wait their turn, in order.

import { LaneFullError } from '../../../base/lane.js';

export class Slots {
  readonly #maxWaiting: number;
  readonly #queue: (() => void)[] = [];
  #free: number;

  constructor(slots: number, maxWaiting: number) {
    this.#free = Math.max(1, slots);
    this.#maxWaiting = maxWaiting;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Throws LaneFullError past the limit; while waiting, the signal takes it out of the queue. */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#free === 0) await this.#turn(signal);
    else this.#free -= 1;
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      const next = this.#queue.shift();
      // Handed over, never set free in between: a newcomer cannot barge in.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#queue.length >= this.#maxWaiting) throw new LaneFullError(this.#maxWaiting);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      this.#queue.push(start);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
