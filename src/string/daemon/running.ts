// Commands that wait or run under an id of their client's, so that the client can call them off.

import { newAbort } from '../../base/abort.js';
import { LocalError } from '../../base/errors.js';

export class CancelledError extends LocalError {
  override readonly name = 'CancelledError';

  constructor() {
    super('cancelled', 'The command was cancelled.');
  }
}

export class Running {
  readonly #calls = new Map<string, Set<AbortController>>();

  /** A signal that aborts when the call is called off; dispose it when the call is over. */
  begin(agentId: string, requestId: string): Disposable & { readonly signal: AbortSignal } {
    const key = `${agentId} ${requestId}`;
    const calls = this.#calls.get(key) ?? new Set();
    this.#calls.set(key, calls);
    const call = newAbort();
    calls.add(call);
    return {
      signal: call.signal,
      [Symbol.dispose]: () => {
        calls.delete(call);
        if (calls.size === 0) this.#calls.delete(key);
      },
    };
  }

  /** False when there is no such call. */
  cancel(agentId: string, requestId: string): boolean {
    const calls = this.#calls.get(`${agentId} ${requestId}`);
    for (const call of calls ?? []) call.abort(new CancelledError());
    return calls !== undefined;
  }
}
