// Carries messages between clients and workers: an answer goes to the client that asked, and to nobody else.

import type { Slab } from '../flow/slab.js';
import { scan } from '../scan/scan.js';
import type { BusStats } from '../stats.js';
import { PoolChoice } from './choose-pool.js';
import { Client, type ClientRouting } from './client.js';
import { Core } from './core.js';
import { describeStats } from './describe-stats.js';
import { ClientMessages } from './from-client.js';
import { refuseReply, routeFromWorker } from './from-worker.js';
import { retryHeld } from './hold.js';
import { Key } from './key.js';
import { loseClient, loseWorker } from './lost.js';
import { requestOfBus } from './own-requests.js';
import { Pool } from './pool.js';
import { feelPressure, relievePressure } from './pressure.js';
import { noteRubbish } from './rubbish.js';
import { findTailId } from './tail-id.js';
import type {
  BusClientHandle,
  BusWorkerHandle,
  ClientOptions,
  ClientStream,
  PoolState,
  RouterHooks,
  RouterSettings,
  WorkerOptions,
  WorkerStream,
} from './settings.js';
import { refuseWaiting, takeWaiting } from './waiting.js';
import { Worker, type WorkerRouting } from './worker.js';

/** Sessions are looked through for old ones this often at most. */
export const SESSION_SWEEP_MS = 1000;

export class Router {
  readonly #core: Core;
  readonly #messages: ClientMessages;
  #sweep: NodeJS.Timeout | undefined;

  constructor(settings: RouterSettings, hooks: RouterHooks) {
    this.#core = new Core(settings, hooks);
    this.#messages = new ClientMessages(this.#core, new PoolChoice(settings));
    this.update(settings);
  }

  addClient(link: ClientStream, options: ClientOptions): BusClientHandle {
    const core = this.#core;
    const client = new Client(core, this.#clientRouting, link, options);
    core.clients.add(client);
    core.counters.clientsConnected += 1;
    return client;
  }

  /** The pool is made when the settings do not have it: a pool that is going may still have its last worker. */
  addWorker(link: WorkerStream, options: WorkerOptions): BusWorkerHandle {
    const core = this.#core;
    const pool = this.#pool(options.pool);
    const worker = new Worker(core, this.#workerRouting, pool, link, options);
    core.workers.add(worker);
    pool.workers.push(worker);
    core.counters.workersAdded += 1;
    if (worker.state === 'ready') this.#poolReady(pool);
    return this.#handle(worker);
  }

  /** What requests for this pool shall expect while it has no ready worker. */
  setPoolState(id: string, state: PoolState, why = 'no worker stays up'): void {
    const pool = this.#pool(id);
    pool.failed = state === 'failed' ? why : undefined;
    if (state === 'failed' && !pool.hasReady) refuseWaiting(this.#core, pool);
  }

  /** New limits, routes and options. Pools that are not named any more get no new work. */
  update(settings: RouterSettings): void {
    const core = this.#core;
    core.settings = settings;
    this.#messages.choice = new PoolChoice(settings);
    for (const pool of settings.pools) this.#pool(pool.id).settings = pool;
    for (const [id, pool] of core.pools) {
      if (settings.pools.some((kept) => kept.id === id)) continue;
      pool.failed = 'the pool is no longer configured';
      if (!pool.hasReady) refuseWaiting(core, pool);
      core.pools.delete(id);
    }
    for (const client of core.clients) client.setMaxBytes(settings.limits.maxInputBufferBytes);
    for (const worker of core.workers) worker.setMaxBytes(settings.limits.maxInputBufferBytes);
    this.#planSweep(settings.sessionTtlMs);
  }

  /** Requests that a client waits for. */
  pending(): number {
    return this.#core.pending.awaited;
  }

  stats(): BusStats {
    return describeStats(this.#core);
  }

  /** Shutting down: new requests are answered so, what is under way goes on. */
  refuseNew(): void {
    this.#core.refusing = true;
  }

  /** Nothing is under way, held back or waiting, and all output is written. */
  idle(): Promise<void> {
    return new Promise((resolve) => this.#core.whenQuiet(resolve));
  }

  /** Refuses what waits for a worker, and lets go of its timers. Clients and workers are closed by whoever added them. */
  close(): void {
    this.refuseNew();
    clearInterval(this.#sweep);
    for (const pool of this.#core.pools.values()) {
      for (const { from, slab, length } of takeWaiting(pool)) this.#again(from, slab, length);
    }
  }

  readonly #clientRouting: ClientRouting = {
    fromClient: (client, slab, start, end) => this.#messages.route(client, slab, start, end),
    clientTooLong: (client, slab, start, end) => this.#messages.tooLong(client, slab, start, end),
    clientDrained: (client) => relievePressure(this.#core, client),
    clientFilling: (client) => feelPressure(this.#core, client, undefined),
    clientGone: (client) => loseClient(this.#core, client),
    retryHeld: (client) =>
      retryHeld(this.#core, client, (line) => this.#again(client, line.slab, line.length, line)),
    retryAsks: (client) => {
      for (const line of client.heldAsks.takeAll()) {
        if (line.from.state !== 'gone')
          routeFromWorker(this.#core, line.from, line.slab, 0, line.length, line);
      }
    },
  };

  readonly #workerRouting: WorkerRouting = {
    fromWorker: (worker, slab, start, end) => routeFromWorker(this.#core, worker, slab, start, end),
    workerTooLong: (worker, slab, start, end) => this.#refuseLong(worker, slab, start, end),
    workerSkipped: (worker, tail) => {
      const id = worker.skippedAnswered ? undefined : findTailId(tail);
      worker.skippedAnswered = false;
      if (id !== undefined) refuseReply(this.#core, worker, new Key().set(id));
    },
  };

  #refuseLong(worker: Worker, slab: Slab, start: number, end: number): void {
    const core = this.#core;
    core.counters.oversizeFromWorkers += 1;
    noteRubbish(core, worker, slab.bytes.subarray(start, end), 'longer than limits.max_input_buffer');
    scan(slab, start, end, core.fields); // cut off as it is, its id may have been at the front
    const isReply = core.fields.methodStart < 0 && core.idKey.take(slab.bytes, core.fields.id);
    worker.skippedAnswered = isReply && refuseReply(core, worker, core.idKey);
  }

  #again(
    client: Client,
    slab: Slab,
    length: number,
    line?: Parameters<ClientMessages['routeScanned']>[4],
  ): void {
    if (!client.open || !scan(slab, 0, length, this.#core.fields)) return;
    this.#messages.routeScanned(client, slab, 0, length, line);
    this.#core.batch.commit();
  }

  #poolReady(pool: Pool): void {
    pool.failed = undefined;
    for (const { from, slab, length } of takeWaiting(pool)) {
      this.#again(from, slab, length);
      from.finishWhenDone();
    }
    for (const client of pool.holders) this.#core.retries.add(client.retryHeld);
    this.#core.runRetries();
    this.#core.flusher.plan();
  }

  #handle(worker: Worker): BusWorkerHandle {
    const core = this.#core;
    return {
      number: worker.number,
      name: worker.name,
      pool: worker.pool.id,
      ended: worker.ended,
      deaf: worker.deaf,
      get load() {
        return worker.load;
      },
      get rubbish() {
        return worker.rubbish;
      },
      admit: () => {
        if (worker.state !== 'preparing') return;
        worker.state = 'ready';
        this.#poolReady(worker.pool);
      },
      retire: () => {
        if (worker.state !== 'gone') worker.state = 'retiring';
        if (worker.load === 0) return Promise.resolve();
        return new Promise((resolve) => worker.onIdle.push(resolve));
      },
      endInput: () => worker.output.end(),
      remove: (why) => {
        if (worker.state !== 'gone') loseWorker(core, worker, why);
        core.flusher.plan();
        core.lookQuiet();
      },
      request: (method, params, timeoutMs) => requestOfBus(core, worker, method, params, timeoutMs),
    };
  }

  #pool(id: string): Pool {
    const { pools } = this.#core;
    let pool = pools.get(id);
    if (pool === undefined) {
      pool = new Pool({ id });
      pools.set(id, pool);
    }
    return pool;
  }

  #planSweep(ttlMs: number | undefined): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
    if (ttlMs === undefined) return;
    const key = new Key();
    this.#sweep = setInterval(
      () => {
        for (const session of this.#core.sessions.unusedSince(Date.now() - ttlMs)) {
          this.#core.sessions.remove(session, key);
        }
      },
      Math.max(SESSION_SWEEP_MS, ttlMs / 4),
    );
    this.#sweep.unref();
  }
}
