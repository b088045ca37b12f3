// Sessions that were opened by POST, by who may come in: they belong to whoever has the credential, and not to a connection.

import type { HeldSessions } from '../held-sessions.js';

export class Holders {
  readonly #open: () => HeldSessions;
  readonly #held = new Map<string, HeldSessions>();

  constructor(open: () => HeldSessions) {
    this.#open = open;
  }

  get size(): number {
    return this.#held.size;
  }

  /** To be asked anew for every call. */
  of(holder: string): HeldSessions {
    const known = this.#held.get(holder);
    if (known !== undefined) return known;
    // Certificates are renewed, every few minutes in some places: whoever has nothing here any more is forgotten.
    for (const [name, held] of this.#held) {
      if (!held.idle) continue;
      this.#held.delete(name);
      void held.close();
    }
    const held = this.#open();
    this.#held.set(holder, held);
    return held;
  }
}
