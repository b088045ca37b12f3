// Long work in short turns: file calls are synchronous (several times faster in Node), so whoever makes thousands of
// them must let others in every few milliseconds.

/** Longest stretch of work between two breaths. */
export const TURN_MS = 5;

export class Turns {
  readonly #signal: AbortSignal | undefined;
  #until = performance.now() + TURN_MS;

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
    signal?.throwIfAborted();
  }

  /** Ask often, it costs a glance at the clock; when true, await `pass`. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Lets the event loop go round. Throws the signal's reason when the caller has left meanwhile. */
  async pass(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(next);
    });
    this.#signal?.throwIfAborted();
    this.#until = performance.now() + TURN_MS;
  }
}

/** One worker a round: ten walks at once make each of them slower, not everybody else. */
const waiting: (() => void)[] = [];

function next(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(next);
}
