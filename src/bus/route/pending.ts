// Requests under way: by worker and id, which client asked. An id that is taken at a worker is nobody else's there.

import { ByteTable } from '../table/byte-table.js';
import type { Client } from './client.js';
import type { Key } from './key.js';
import type { Worker } from './worker.js';

/** A request of the bus itself. */
export interface OwnRequest {
  readonly answer: (line: string) => void;
  readonly fail: (error: Error) => void;
}

/** A request whose line was changed on its way: what has to be put back on the answer. */
export interface Detour {
  readonly client: Client;
  /** The id as the client wrote it, when another stood in for it. */
  readonly id: Buffer | undefined;
  /** The key of that id among those of its client that are stood in for. */
  readonly known: string | undefined;
  /** The top-level session id that was taken out. */
  readonly session: Buffer | undefined;
}

/** Almost always the client itself, so that a request costs no memory of its own. */
export interface Asker {
  readonly client?: Client | undefined;
  readonly own?: OwnRequest | undefined;
  readonly detour?: Detour | undefined;
  /** The id as the client wrote it, where that is not how it is known here. */
  readonly rawId?: Buffer | undefined;
}

export class PendingRequests {
  readonly #table = new ByteTable<Asker>();

  get size(): number {
    return this.#table.size;
  }

  add(key: Key, worker: Worker, asker: Asker): void {
    this.#table.add(key.bytes, key.start, key.end, key.hash, worker.number, asker);
    worker.load += 1;
    if (asker.client !== undefined) asker.client.pending += 1;
  }

  /** Who asked first for this id there. */
  peek(key: Key, worker: Worker): Asker | undefined {
    const entry = this.#table.find(key.bytes, key.start, key.end, key.hash, worker.number);
    return entry < 0 ? undefined : this.#table.valueAt(entry);
  }

  take(key: Key, worker: Worker): Asker | undefined {
    const entry = this.#table.find(key.bytes, key.start, key.end, key.hash, worker.number);
    if (entry < 0) return undefined;
    const asker = this.#table.valueAt(entry);
    this.#table.remove(entry);
    this.#release(asker, worker);
    return asker;
  }

  /** All of a worker that is gone, with their ids. */
  takeAll(worker: Worker): { readonly id: Buffer; readonly asker: Asker }[] {
    const taken: { id: Buffer; asker: Asker }[] = [];
    this.#table.forEach((entry, asker) => {
      if (this.#table.tagAt(entry) !== worker.number) return;
      taken.push({ id: this.#table.keyAt(entry), asker });
      this.#table.remove(entry);
      this.#release(asker, worker);
    });
    return taken;
  }

  /** Somebody else than this client waits for that worker. Walks the table: for the rare moment when a client does not read. */
  othersWait(worker: Worker, client: Client): boolean {
    let others = false;
    this.#table.forEach((entry, asker) => {
      if (this.#table.tagAt(entry) === worker.number && asker.client !== client) others = true;
    });
    return others;
  }

  #release(asker: Asker, worker: Worker): void {
    worker.load -= 1;
    if (asker.client !== undefined) asker.client.pending -= 1;
  }
}
