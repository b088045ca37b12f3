// How often a worker may be started again, and how long to wait before.

export interface RestartPolicy {
  /** Restarts allowed within the window; 0 means never. */
  readonly maxRestarts: number;
  readonly windowMs: number;
  /** Doubled with every restart that lies within the window. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Part of the delay by which it is made longer or shorter, so that workers do not all come back at once. */
  readonly jitter: number;
}

export const DEFAULT_RESTART_POLICY: RestartPolicy = {
  maxRestarts: 5,
  windowMs: 60_000,
  firstDelayMs: 100,
  maxDelayMs: 30_000,
  jitter: 0.2,
};

export class RestartBudget {
  readonly #policy: () => Partial<RestartPolicy>;
  readonly #random: () => number;
  #restarts: number[] = [];

  /** A function is asked every time: its policy may change. */
  constructor(
    policy: Partial<RestartPolicy> | (() => Partial<RestartPolicy>) = {},
    random: () => number = Math.random,
  ) {
    this.#policy = typeof policy === 'function' ? policy : () => policy;
    this.#random = random;
  }

  get policy(): RestartPolicy {
    return { ...DEFAULT_RESTART_POLICY, ...this.#policy() };
  }

  /** Takes one restart out of the budget. Gives the delay before it, or undefined when the budget is used up. */
  take(nowMs: number): number | undefined {
    const { maxRestarts, windowMs, firstDelayMs, maxDelayMs, jitter } = this.policy;
    // A worker that has run well for long enough begins again with the first delay.
    this.#restarts = this.#restarts.filter((at) => nowMs - at < windowMs);
    if (this.#restarts.length >= maxRestarts) return undefined;
    const delayMs = Math.min(maxDelayMs, firstDelayMs * 2 ** this.#restarts.length);
    this.#restarts.push(nowMs);
    return delayMs * (1 + jitter * (2 * this.#random() - 1));
  }

  /** Restarts that count at this moment. */
  used(nowMs: number): number {
    const { windowMs } = this.policy;
    return this.#restarts.filter((at) => nowMs - at < windowMs).length;
  }
}
