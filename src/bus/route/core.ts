// What all parts of one router share: settings, tables, counters, and the hands that gather and write.

import { Batch } from '../flow/batch.js';
import { Flusher } from '../flow/flusher.js';
import { Fields } from '../scan/fields.js';
import { ByteTable } from '../table/byte-table.js';
import { type BusCounters, newCounters } from '../stats.js';
import type { Client } from './client.js';
import { Key } from './key.js';
import { PendingRequests } from './pending.js';
import type { Pool } from './pool.js';
import { Sessions } from './sessions.js';
import type { RouterHooks, RouterSettings } from './settings.js';
import type { Worker } from './worker.js';

export class Core {
  settings: RouterSettings;
  readonly hooks: RouterHooks;
  readonly counters: BusCounters = newCounters();
  readonly batch = new Batch();
  readonly flusher = new Flusher(() => this.lookQuiet());
  /** Of the message that is being routed, one at a time. */
  readonly fields = new Fields();
  readonly idKey = new Key();
  readonly sessionKey = new Key();
  readonly pending = new PendingRequests();
  readonly sessions = new Sessions();
  /** Requests of workers to clients: by client and id, the worker that asked. */
  readonly asked = new ByteTable<Worker>();
  /** Those of them whose worker is gone. */
  askedByGone = 0;
  readonly clients = new Set<Client>();
  readonly workers = new Set<Worker>();
  readonly pools = new Map<string, Pool>();
  /** Clients with lines that waited for an id, and workers with such for a client: looked at when a source is done. */
  readonly retries = new Set<() => void>();
  refusing = false;
  #nextNumber = 0;
  #onQuiet: (() => void)[] = [];

  constructor(settings: RouterSettings, hooks: RouterHooks) {
    this.settings = settings;
    this.hooks = hooks;
  }

  newNumber(): number {
    this.#nextNumber += 1;
    return this.#nextNumber;
  }

  /** At the end of what one source has brought. */
  sourceDone(): void {
    this.batch.commit();
    this.runRetries();
    this.flusher.sourceDone();
    if (this.#onQuiet.length > 0) this.lookQuiet();
  }

  runRetries(): void {
    while (this.retries.size > 0) {
      const now = [...this.retries];
      this.retries.clear();
      for (const retry of now) retry();
      this.batch.commit();
    }
  }

  /** Calls back once nothing is under way, held back or queued. */
  whenQuiet(done: () => void): void {
    this.#onQuiet.push(done);
    this.lookQuiet();
  }

  lookQuiet(): void {
    if (this.#onQuiet.length === 0 || !this.#isQuiet()) return;
    for (const done of this.#onQuiet.splice(0)) done();
  }

  #isQuiet(): boolean {
    if (this.pending.awaited > 0) return false;
    for (const pool of this.pools.values()) if (pool.waiting.length > 0) return false;
    for (const client of this.clients) {
      if (client.output.queuedBytes > 0 || client.held.length > 0) return false;
    }
    for (const worker of this.workers) if (worker.output.queuedBytes > 0) return false;
    return true;
  }
}
