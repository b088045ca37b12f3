// The requests that are being answered: how many, under which ids, and how to call them off.

import { newAbort } from '../../base/abort.js';
import { HugindError } from '../errors.js';
import type { BridgeId } from './read-line.js';

export type Envelope = 'ndjson' | 'mcp';

export class OpenRequests {
  /** A client may use an id twice; then both are meant. */
  readonly #byId = new Map<string, Set<AbortController>>();
  readonly #work = new Set<Promise<void>>();
  #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#work.size;
  }

  /** `work` is given the signal that calls it off, and never rejects. */
  open(id: BridgeId, work: (signal: AbortSignal) => Promise<void>, envelope: Envelope = 'ndjson'): void {
    const key = keyOf(id, envelope);
    const controller = newAbort();
    const same = this.#byId.get(key) ?? new Set();
    this.#byId.set(key, same.add(controller));
    const settled = work(controller.signal).finally(() => {
      same.delete(controller);
      if (same.size === 0 && this.#byId.get(key) === same) this.#byId.delete(key);
      this.#work.delete(settled);
      this.#onChange();
    });
    this.#work.add(settled);
  }

  /** Whether there was any. */
  cancel(id: BridgeId, envelope: Envelope = 'ndjson'): boolean {
    const found = this.#byId.get(keyOf(id, envelope));
    for (const controller of found ?? []) controller.abort(new CancelledError());
    return found !== undefined;
  }

  /** Settles when all of them have ended, with their answers. */
  async cancelAll(): Promise<void> {
    for (const same of this.#byId.values())
      for (const controller of same) controller.abort(new CancelledError('the bridge is ending'));
    await Promise.all(this.#work);
  }
}

export class CancelledError extends HugindError {
  constructor(why = 'the request was called off') {
    super('cancelled', why);
  }
}

/** The ids 7 and "7" are different, and so are those of the two envelopes. */
function keyOf(id: BridgeId, envelope: Envelope): string {
  return `${envelope} ${JSON.stringify(id)}`;
}
