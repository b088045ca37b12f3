// Everything that lives has a signal, an idempotent close and asyncDispose.

import { newAbort } from './abort.js';
import { LocalError } from './errors.js';

export class ClosedError extends LocalError {
  override readonly name = 'ClosedError';

  constructor(what = 'resource') {
    super('closed', `${what} is closed`);
  }
}

export abstract class Resource implements AsyncDisposable {
  /** Made when somebody asks for it: most short-lived resources are never listened to, and a controller is not cheap. */
  #ended: AbortController | undefined;
  #gone: Error | undefined;
  #closing: Promise<void> | undefined;

  /** Aborts once, when the resource is gone. Hand it to timers, listeners and children. */
  get signal(): AbortSignal {
    if (this.#ended === undefined) {
      this.#ended = newAbort();
      if (this.#gone !== undefined) this.#ended.abort(this.#gone);
    }
    return this.#ended.signal;
  }

  /** True from the first call of `close`, while teardown may still be under way. */
  get closing(): boolean {
    return this.#closing !== undefined;
  }

  /** Idempotent: every caller awaits the same teardown. The signal aborts even when teardown fails. */
  close(reason: Error = new ClosedError()): Promise<void> {
    if (this.#closing === undefined) {
      let begin = (): void => {};
      // Known to be closing before `release` runs: what it calls may well call `close` again.
      this.#closing = new Promise((resolve) => {
        begin = () => resolve(this.#teardown(reason));
      });
      begin();
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Runs once. Release what is held; `reason` is what waiting callers should be told. */
  protected abstract release(reason: Error): Promise<void>;

  async #teardown(reason: Error): Promise<void> {
    try {
      await this.release(reason);
    } finally {
      this.#gone = reason;
      this.#ended?.abort(reason);
    }
  }
}
