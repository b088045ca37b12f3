// The workers of one pool: started together, replaced one after the other, ended together.

import { LocalError, toError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import { settleAll } from '../../base/settle-all.js';
import { newScope } from '../../host/process/mark.js';
import { stopTree } from '../../host/process/stop-tree.js';
import type { PoolConfig } from '../config/schema.js';
import type { Router } from '../route/router.js';
import type { PoolState } from '../route/settings.js';
import { Place, type PlaceOptions, type StopOptions } from './place.js';

export interface PoolParts extends Pick<PlaceOptions, 'env' | 'log' | 'onStderr' | 'restart'> {
  readonly router: Pick<Router, 'addWorker' | 'setPoolState'>;
  /** How long a worker that is replaced may take for what it has in hand. */
  readonly pendingMs: () => number;
}

export class Pool extends Resource {
  readonly #parts: PoolParts;
  readonly #scope = newScope();
  #config: PoolConfig;
  #places: Place[] = [];
  /** Replaced ones that still have work in hand. */
  readonly #leaving = new Set<Promise<void>>();
  #state: PoolState | 'ready' = 'ready';
  #restartsOfFormer = 0;
  #stopping = false;

  /** Starts all workers at once. */
  constructor(config: PoolConfig, parts: PoolParts) {
    super();
    this.#config = config;
    this.#parts = parts;
    this.#look();
    for (let at = 0; at < config.instances; at++) this.#places.push(this.#newPlace(at));
    this.#look();
  }

  get config(): PoolConfig {
    return this.#config;
  }

  get places(): readonly Place[] {
    return this.#places;
  }

  /** Of all workers that ever were in it. */
  get restarts(): number {
    return this.#places.reduce((sum, { restarts }) => sum + restarts, this.#restartsOfFormer);
  }

  /** Rejects when a worker's program could not be started the first time. */
  async launched(): Promise<void> {
    await Promise.all(this.#places.map((place) => place.launched));
  }

  /** The worker that the router knows by this number. */
  find(number: number): Place | undefined {
    return this.#places.find((place) => place.number === number);
  }

  /**
   * Takes on another configuration: workers that would be started otherwise are replaced one after the other, those too
   * many leave, those missing are started. Rejects when a new one does not get ready; the old ones then go on.
   */
  async change(config: PoolConfig): Promise<void> {
    const before = this.#config;
    this.#config = config;
    if (!isStartedAlike(before, config)) {
      try {
        await this.restart();
      } catch (thrown) {
        this.#config = { ...before, instances: this.#places.length };
        throw thrown;
      }
    }
    while (this.#places.length > config.instances) void this.#leave(this.#places.pop());
    while (this.#places.length < config.instances && !this.closing)
      this.#places.push(this.#newPlace(this.#places.length));
    this.#look();
  }

  /** Every worker is replaced by a new one, which has to be ready before the old one leaves: nobody goes unserved. */
  async restart(): Promise<void> {
    for (let at = 0; at < Math.min(this.#places.length, this.#config.instances); at++) {
      if (this.closing) return;
      const fresh = this.#newPlace(at);
      const ready = await fresh.launched.then(() => fresh.settled()).catch(() => false);
      const old = this.#places[at];
      if (!ready || this.closing || old === undefined) {
        await fresh.stop();
        if (this.closing) return;
        throw new LocalError(
          'not_ready',
          `pool ${this.#config.id}: a new worker did not get ready; the old ones go on`,
        );
      }
      this.#places[at] = fresh;
      this.#look();
      await this.#leave(old);
    }
  }

  /** Gets no new work, finishes what it has within `pendingMs`, and is gone. */
  async stop(options: StopOptions): Promise<void> {
    this.#stopping = true;
    const leaving = [...this.#places.map((place) => place.stop(options)), ...this.#leaving];
    try {
      await settleAll(leaving);
    } finally {
      await this.close();
    }
  }

  /** All of it at once, with whatever any of them has left behind. */
  protected override async release(): Promise<void> {
    const killed = this.#places.map((place) => place.kill());
    await stopTree(this.#scope, { graceMs: 0 }); // those who are leaving, too
    await settleAll([...killed, ...this.#leaving]);
    await stopTree(this.#scope, { graceMs: 0 }); // one may have been about to start
  }

  #newPlace(at: number): Place {
    const { env, log, onStderr, restart, router } = this.#parts;
    return new Place({
      name: `${this.#config.id}/${at}`,
      pool: this.#config,
      scope: this.#scope,
      restart,
      env,
      log,
      router,
      onStderr,
      onChange: () => this.#look(),
    });
  }

  #leave(place: Place | undefined): Promise<void> {
    if (place === undefined) return Promise.resolve();
    this.#restartsOfFormer += place.restarts;
    const left = place.stop({ pendingMs: this.#parts.pendingMs() }).catch((thrown: unknown) => {
      const reason = toError(thrown).message;
      this.#parts.log.error('a worker could not be ended', { worker: place.name, reason });
    });
    this.#leaving.add(left);
    void left.finally(() => this.#leaving.delete(left));
    return left;
  }

  /** Tells the router what requests may expect while nobody is ready. */
  #look(): void {
    const states = this.#places.map(({ state }) => state);
    const state = states.includes('ready')
      ? 'ready'
      : states.every((each) => each === 'failed' || each === 'stopped') && states.length > 0
        ? 'failed'
        : 'starting';
    if (state === this.#state || this.#stopping || this.closing) return;
    this.#state = state;
    if (state === 'ready') return;
    const why = state === 'failed' ? 'every worker of the pool was given up' : 'no worker is ready';
    this.#parts.router.setPoolState(this.#config.id, state, why);
    if (state === 'failed')
      this.#parts.log.error('a pool has no worker left: its requests are refused', { pool: this.#config.id });
  }
}

/** Whether a worker of one would be the same as a worker of the other. */
function isStartedAlike(one: PoolConfig, other: PoolConfig): boolean {
  const essence = ({ command, args, env, cwd, ready, ping }: PoolConfig): string =>
    JSON.stringify([
      command,
      args,
      Object.keys(env)
        .sort()
        .map((name) => [name, env[name]]),
      cwd,
      ready,
      ping,
    ]);
  return essence(one) === essence(other);
}
