// What `bus/stats` tells: the counters of the router, and how the workers behind it are.

import type { BusStats } from './stats.js';
import type { Pool } from './workers/pool.js';

export interface WorkerReport {
  readonly name: string;
  /** The seed's Worker ID; absent between two processes. */
  readonly number?: number;
  readonly pid?: number;
  readonly state: string;
  readonly restarts: number;
}

export interface PoolReport {
  readonly id: string;
  readonly name?: string;
  readonly ready: number;
  readonly restarts: number;
  readonly workers: readonly WorkerReport[];
}

export interface BusReport {
  readonly version: string;
  readonly pid: number;
  readonly uptime_sec: number;
  readonly draining: boolean;
  readonly listening: readonly string[];
  readonly pools: readonly PoolReport[];
  readonly stats: BusStats;
}

export interface ReportParts {
  readonly version: string;
  readonly startedAtMs: number;
  readonly stats: BusStats;
  readonly pools: readonly Pool[];
  readonly places: readonly string[];
  readonly draining: boolean;
}

export function describeBus({
  version,
  startedAtMs,
  stats,
  pools,
  places,
  draining,
}: ReportParts): BusReport {
  return {
    version,
    pid: process.pid,
    uptime_sec: Math.round((Date.now() - startedAtMs) / 1000),
    draining,
    listening: places,
    pools: pools.map(describePool),
    stats,
  };
}

function describePool(pool: Pool): PoolReport {
  const workers = pool.places.map(({ name, number, pid, state, restarts }) => ({
    name,
    ...(number !== undefined && { number }),
    ...(pid !== undefined && { pid }),
    state,
    restarts,
  }));
  return {
    id: pool.config.id,
    ...(pool.config.name !== undefined && { name: pool.config.name }),
    ready: workers.filter(({ state }) => state === 'ready').length,
    restarts: pool.restarts,
    workers,
  };
}
