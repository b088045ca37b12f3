// The workers of one pool, which of them gets the next message, and what waits while there is none.

import type { Client } from './client.js';
import type { Core } from './core.js';
import { HeldLines } from './held.js';
import type { Key } from './key.js';
import type { PoolSettings } from './settings.js';
import type { Worker } from './worker.js';

export class Pool {
  readonly id: string;
  settings: PoolSettings;
  readonly workers: Worker[] = [];
  /** Lines that came while no worker was ready. */
  readonly waiting = new HeldLines<Client, Worker>();
  waitTimer: NodeJS.Timeout | undefined;
  /** Clients with lines that wait for an id at one of these workers, or for room there. */
  readonly holders = new Set<Client>();
  /** Why there will be no worker, when that is known. */
  failed: string | undefined;
  #turn = 0;

  constructor(settings: PoolSettings) {
    this.id = settings.id;
    this.settings = settings;
  }

  get strips(): boolean {
    return this.settings.session?.strip === true;
  }

  get lifts(): boolean {
    return this.settings.session?.lift !== false;
  }

  get hasReady(): boolean {
    return this.workers.some((worker) => worker.state === 'ready');
  }

  /** The least loaded that may take it now; those with equal load have turns. `id` must not be another client's there. */
  pick(core: Core, client: Client, id: Key | undefined): Worker | undefined {
    const { workers } = this;
    const { length } = workers;
    const max = core.settings.limits.maxWorkerQueueBytes;
    this.#turn += 1;
    if (this.#turn >= length) this.#turn = 0;
    let best: Worker | undefined;
    for (let i = 0, at = this.#turn; i < length; i += 1) {
      const worker = workers[at]!;
      at = at + 1 === length ? 0 : at + 1;
      if (worker.state !== 'ready' || worker.output.queuedBytes >= max) continue;
      if (best !== undefined && worker.load >= best.load) continue;
      if (client.held.length > 0 && client.mustFollowHeld(worker)) continue;
      if (id !== undefined && isTaken(core, id, worker, client)) continue;
      best = worker;
      if (worker.load === 0) break;
    }
    return best;
  }

  /** The least loaded of all that are ready, whatever ids they have. */
  leastLoaded(): Worker | undefined {
    let best: Worker | undefined;
    for (const worker of this.workers) {
      if (worker.state === 'ready' && (best === undefined || worker.load < best.load)) best = worker;
    }
    return best;
  }
}

/** Another client waits for the same id at that worker: the answer could not be told apart. */
export function isTaken(core: Core, id: Key, worker: Worker, client: Client): boolean {
  if (worker.load === 0) return false;
  const asker = core.pending.peek(id, worker);
  return asker !== undefined && asker.client !== client;
}

/** Who asked there under this id has left, and the worker has yet to answer. */
export function isAbandoned(core: Core, id: Key, worker: Worker): boolean {
  return core.pending.peek(id, worker)?.client?.open === false;
}
