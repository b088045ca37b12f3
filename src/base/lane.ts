// A serial lane: one task at a time, a bounded queue, waiting that can be cancelled.

import { LocalError } from './errors.js';

export class LaneFullError extends LocalError {
  override readonly name = 'LaneFullError';

  constructor(limit: number) {
    super('lane_full', `the queue is full (${limit} waiting)`, { facts: { limit } });
  }
}

export interface LaneOptions {
  /** How many tasks may wait behind the running one. 0 rejects at once while the lane is busy. */
  readonly maxWaiting: number;
}

interface Waiter {
  readonly start: () => void;
}

export class Lane {
  readonly #maxWaiting: number;
  readonly #queue: Waiter[] = [];
  #busy = false;

  constructor(options: LaneOptions) {
    this.#maxWaiting = options.maxWaiting;
  }

  get busy(): boolean {
    return this.#busy;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /**
   * Runs `task` when its turn comes. While waiting, `signal` takes it out of the queue with the signal's reason; once
   * started, the task is on its own (hand it the signal if it should stop). Throws LaneFullError past the limit.
   */
  async run<T>(task: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#busy) await this.#turn(signal);
    this.#busy = true;
    try {
      signal?.throwIfAborted(); // between the hand-over and now there was a moment to give up
      return await task();
    } finally {
      const next = this.#queue.shift();
      // Handed over while still busy: there is no moment in which a newcomer could barge in.
      if (next === undefined) this.#busy = false;
      else next.start();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#queue.length >= this.#maxWaiting) throw new LaneFullError(this.#maxWaiting);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        reject(signal?.reason as Error);
      };
      const waiter: Waiter = {
        start: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      this.#queue.push(waiter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
