// Many changes, one commit: whoever comes while others wait shares their trip to the disk.
//
// A commit that is on the disk costs milliseconds, whatever is in it. Those that arrive in the same turn of the event
// loop (all that came in while the last commit was made) go into one transaction; each is answered when it is durable.

import type { Database } from '../../host/store/database.js';
import { ClosedError } from '../../base/resource.js';

/** Changes in one transaction: more would keep everybody else waiting for too long. */
export const MAX_GROUP = 1024;

interface Waiting {
  readonly change: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

export class GroupCommit {
  readonly #database: Database;
  #waiting: Waiting[] = [];
  #scheduled: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Resolves with what `change` gave, once it is on the disk. A change that throws takes back those that share its commit. */
  run<T>(change: () => T): Promise<T> {
    if (this.#closed) return Promise.reject(new ClosedError('inbox'));
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#scheduled ??= setImmediate(() => this.#commit());
    });
  }

  /** All that waits is committed now; nothing is taken after that. */
  close(): void {
    this.#closed = true;
    while (this.#waiting.length > 0) this.#commit();
  }

  #commit(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const group = this.#waiting.splice(0, MAX_GROUP);
    if (this.#waiting.length > 0 && !this.#closed) this.#scheduled = setImmediate(() => this.#commit());
    try {
      const results = this.#database.transaction(() => group.map(({ change }) => change()));
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as never);
    } catch (thrown) {
      for (const { reject } of group) reject(thrown);
    }
  }
}
