// Ctrl-C and its like: what they do while a command runs, and what they do when the command has its own idea of it.

import { LocalError } from '../base/errors.js';

const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
export type Interrupt = keyof typeof SIGNALS;

/** 130 for Ctrl-C, as a shell has it. */
export class InterruptedError extends LocalError {
  override readonly name = 'InterruptedError';
  readonly exitCode: number;

  constructor(signal: Interrupt) {
    super('interrupted', `interrupted by ${signal}`);
    this.exitCode = 128 + SIGNALS[signal];
  }
}

export class Interrupts implements Disposable {
  readonly #controller = new AbortController();
  readonly #listeners: [Interrupt, () => void][] = [];
  #handler: ((signal: Interrupt) => void) | undefined;
  /** The one that nobody had taken. */
  #early: Interrupt | undefined;

  constructor() {
    for (const signal of Object.keys(SIGNALS) as Interrupt[]) {
      const listener = (): void => this.#receive(signal);
      this.#listeners.push([signal, listener]);
      process.on(signal, listener);
    }
  }

  /** Aborts with an InterruptedError at the first signal that no handler has taken. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The same for another reason than a signal. */
  end(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** From now on signals are this handler's, and one that came before it; `signal` is no longer aborted by them. */
  take(handler: (signal: Interrupt) => void): void {
    this.#handler = handler;
    if (this.#early !== undefined) handler(this.#early);
    this.#early = undefined;
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: Interrupt): void {
    if (this.#handler !== undefined) this.#handler(signal);
    // Whoever presses it a second time does not want to wait for an orderly end.
    else if (this.#controller.signal.aborted) process.exit(128 + SIGNALS[signal]);
    else {
      this.#early = signal;
      this.#controller.abort(new InterruptedError(signal));
    }
  }
}
