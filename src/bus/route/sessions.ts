// Sessions: each bound to one worker and owned by one client, and gone with either.

import { ByteTable } from '../table/byte-table.js';
import type { Client } from './client.js';
import type { Key } from './key.js';
import type { Worker } from './worker.js';

export interface Session {
  /** Its id, a JSON string with its quotes. */
  readonly id: Buffer;
  worker: Worker;
  readonly owner: Client;
  /** What the client calls it at the top level, when the worker knows it by another id and does not see that one. */
  outer: Buffer | undefined;
  usedAt: number;
}

export class Sessions {
  readonly #table = new ByteTable<Session>();

  get size(): number {
    return this.#table.size;
  }

  find(key: Key): Session | undefined {
    const entry = this.#table.find(key.bytes, key.start, key.end, key.hash, 0);
    return entry < 0 ? undefined : this.#table.valueAt(entry);
  }

  add(key: Key, worker: Worker, owner: Client, usedAt: number): Session {
    const session: Session = { id: key.copy(), worker, owner, outer: undefined, usedAt };
    this.#table.add(key.bytes, key.start, key.end, key.hash, 0, session);
    owner.sessions.add(session);
    worker.adopt(session);
    return session;
  }

  bind(session: Session, worker: Worker): void {
    session.worker.sessions.delete(session);
    session.worker = worker;
    worker.adopt(session);
  }

  remove(session: Session, key: Key): void {
    key.set(session.id);
    const entry = this.#table.find(key.bytes, key.start, key.end, key.hash, 0);
    if (entry >= 0) this.#table.remove(entry);
    session.owner.sessions.delete(session);
    session.worker.sessions.delete(session);
  }

  /** Those that nobody has used since then. */
  unusedSince(time: number): Session[] {
    const old: Session[] = [];
    this.#table.forEach((_entry, session) => {
      if (session.usedAt < time) old.push(session);
    });
    return old;
  }
}
