// Pools of workers that are kept running, drained together and closed together. Knows nothing of what they speak.

import { LocalError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import { settleAll } from '../../base/settle-all.js';
import { newScope } from '../process/mark.js';
import { stopTree } from '../process/stop-tree.js';
import { Worker, type WorkerOptions } from './worker.js';

/** Workers in one pool at most. */
export const MAX_INSTANCES = 1000;

export interface PoolOptions extends WorkerOptions {
  readonly id: string;
  readonly instances: number;
}

export class PoolConfigError extends LocalError {
  override readonly name = 'PoolConfigError';

  constructor(pool: string, message: string) {
    super('pool_config', message, { facts: { pool } });
  }
}

export class WorkerPool extends Resource {
  readonly id: string;
  readonly workers: readonly Worker[];
  readonly #scope = newScope();

  /** Starts all workers at once. */
  constructor(options: PoolOptions) {
    super();
    const { id, instances } = options;
    if (!Number.isInteger(instances) || instances < 1 || instances > MAX_INSTANCES) {
      throw new PoolConfigError(
        id,
        `pool ${id}: instances must be a whole number from 1 to ${MAX_INSTANCES}`,
      );
    }
    this.id = id;
    this.workers = Array.from(
      { length: instances },
      (_, at) => new Worker(`${id}/${at}`, this.#scope, options),
    );
  }

  /** Those that can be given work now. */
  get ready(): Worker[] {
    return this.workers.filter((worker) => worker.state === 'ready');
  }

  /** Resolves when every worker has become ready once, or has been given up. */
  async settled(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.settled));
  }

  /** Takes no more work, lets finish what is in hand, then stops. Gives the number of pieces not finished in time. */
  async drain(timeoutMs: number): Promise<number> {
    return await drainAll(this.workers, timeoutMs, this);
  }

  /** Stops all workers, without waiting for work in hand, and ends whatever any of them ever left behind. */
  protected async release(): Promise<void> {
    try {
      await settleAll(this.workers.map((worker) => worker.stop({ inputGraceMs: 0 })));
    } finally {
      await stopTree(this.#scope);
    }
  }
}

export class Supervisor extends Resource {
  readonly pools: ReadonlyMap<string, WorkerPool>;

  constructor(pools: readonly PoolOptions[]) {
    super();
    const ids = new Set<string>();
    for (const { id } of pools) {
      if (ids.has(id)) throw new PoolConfigError(id, `pool ${id}: there are two of this name`);
      ids.add(id);
    }
    this.pools = new Map(pools.map((options) => [options.id, new WorkerPool(options)]));
  }

  async settled(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.settled()));
  }

  /** Drains all pools at once, then closes. Gives the number of pieces of work not finished in time. */
  async drain(timeoutMs: number): Promise<number> {
    return await drainAll([...this.pools.values()], timeoutMs, this);
  }

  protected async release(): Promise<void> {
    await settleAll([...this.pools.values()].map((pool) => pool.close()));
  }
}

/** Drains all at once, then closes what holds them, also when one of them could not be drained. */
async function drainAll(
  parts: readonly { drain(timeoutMs: number): Promise<number> }[],
  timeoutMs: number,
  whole: Resource,
): Promise<number> {
  try {
    const unfinished = await settleAll(parts.map((part) => part.drain(timeoutMs)));
    return unfinished.reduce((sum, each) => sum + each, 0);
  } finally {
    await whole.close();
  }
}
