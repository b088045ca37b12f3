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

/** Requests of clients that have left may fill the table up to so many times of what may be under way. */
const ABANDONED_FACTOR = 2;

export class PendingRequests {
  readonly #table = new ByteTable<Asker>();
  /** Of clients that have left: nobody waits for them, but their ids stay taken until they are answered. */
  #abandoned = 0;

  get size(): number {
    return this.#table.size;
  }

  /** Those that somebody waits for. */
  get awaited(): number {
    return this.#table.size - this.#abandoned;
  }

  /** So many wait for answers, or so many more will be answered to nobody, that there is no room for another. */
  isFull(max: number): boolean {
    return this.awaited >= max || this.size >= max * ABANDONED_FACTOR;
  }

  /** The client has just left. */
  abandon(client: Client): void {
    this.#abandoned += client.pending;
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

  /** All of a worker that is gone, with their ids, in the order in which they were asked. */
  takeAll(worker: Worker): { readonly id: Buffer; readonly asker: Asker }[] {
    const entries: number[] = [];
    this.#table.forEach((entry) => {
      if (this.#table.tagAt(entry) === worker.number) entries.push(entry);
    });
    return entries
      .sort((a, b) => this.#table.compareArrival(a, b))
      .map((entry) => {
        const taken = { id: this.#table.keyAt(entry), asker: this.#table.valueAt(entry) };
        this.#table.remove(entry);
        this.#release(taken.asker, worker);
        return taken;
      });
  }

  /** Somebody else than this client waits for that worker. Walks the table: for the rare moment when a client does not read. */
  othersWait(worker: Worker, client: Client): boolean {
    let others = false;
    this.#table.forEach((entry, asker) => {
      if (this.#table.tagAt(entry) === worker.number && asker.client !== client) others = true;
    });
    return others;
  }

  /** This client waits for that worker. Walks the table: for the rare moment when a session has to leave its worker. */
  waitsFor(client: Client, worker: Worker): boolean {
    let waits = false;
    this.#table.forEach((entry, asker) => {
      if (this.#table.tagAt(entry) === worker.number && asker.client === client) waits = true;
    });
    return waits;
  }

  #release(asker: Asker, worker: Worker): void {
    worker.load -= 1;
    if (asker.client === undefined) return;
    asker.client.pending -= 1;
    if (!asker.client.open) this.#abandoned -= 1;
  }
}
