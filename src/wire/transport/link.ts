// What every transport gives: bytes in, bytes out, and a way to end both.

import type { Readable, Writable } from 'node:stream';

export interface Link {
  readonly input: Readable;
  /** May be the same duplex stream as `input`. */
  readonly output: Writable;
  /** For the log: `stdio`, `unix:/run/x.sock`, `tcp:127.0.0.1:4000`, `memory`. */
  readonly name: string;
  /**
   * Ends both directions and resolves when they are gone: what was written goes out first, unless that takes longer
   * than LINGER_MS. Idempotent, never rejects.
   */
  close(): Promise<void>;
}

/** How long a closing link waits for the other side to take the last bytes and to say goodbye. */
export const LINGER_MS = 1000;
