// Requests for a pool that has no ready worker: they wait, a while and up to a number of bytes, and are never met by silence.

import type { Slab } from '../flow/slab.js';
import { scan } from '../scan/scan.js';
import { OVERLOADED, WORKER_UNAVAILABLE } from '../protocol.js';
import { refuse } from './answers.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import type { HeldLine } from './held.js';
import type { Pool } from './pool.js';
import type { Worker } from './worker.js';

type Line = HeldLine<Client, Worker>;

/** The message that is being routed has no worker to go to. */
export function waitForWorker(
  core: Core,
  pool: Pool,
  client: Client,
  slab: Slab,
  start: number,
  end: number,
): void {
  if (pool.failed !== undefined) {
    refusePoolFailed(core, pool, client, slab);
  } else if (pool.waiting.bytes + end - start > core.settings.limits.maxWaitingBytes) {
    refuse(core, client, slab, OVERLOADED, {
      reason: 'queue_full',
      hint: 'no worker of the pool is ready and too much waits already; try again later',
      pool: pool.id,
    });
  } else {
    pool.waiting.add(slab, start, end, client, undefined, pool.id);
    client.waiting += 1;
    planTimeout(core, pool);
  }
}

/** A worker is ready: what waits goes its way, in order. */
export function takeWaiting(pool: Pool): Line[] {
  clearTimeout(pool.waitTimer);
  pool.waitTimer = undefined;
  const lines = pool.waiting.takeAll();
  for (const { from } of lines) from.waiting -= 1;
  return lines.filter(({ from }) => from.open);
}

/** There will be no worker: what waits is answered. */
export function refuseWaiting(core: Core, pool: Pool): void {
  for (const line of takeWaiting(pool)) {
    if (scan(line.slab, 0, line.length, core.fields)) refusePoolFailed(core, pool, line.from, line.slab);
    line.from.finishWhenDone();
  }
}

function refusePoolFailed(core: Core, pool: Pool, client: Client, slab: Slab): void {
  refuse(core, client, slab, WORKER_UNAVAILABLE, {
    reason: 'pool_failed',
    hint: 'the workers of this pool do not stay up; the log of the bus says why',
    pool: pool.id,
    why: pool.failed ?? 'the pool is gone',
  });
}

function planTimeout(core: Core, pool: Pool): void {
  const first = pool.waiting.first;
  if (pool.waitTimer !== undefined || first === undefined) return;
  const due = first.since + core.settings.limits.waitTimeoutMs - Date.now();
  pool.waitTimer = setTimeout(
    () => {
      pool.waitTimer = undefined;
      refuseOverdue(core, pool);
      planTimeout(core, pool);
    },
    Math.max(1, due),
  );
}

function refuseOverdue(core: Core, pool: Pool): void {
  const { waitTimeoutMs } = core.settings.limits;
  const now = Date.now();
  for (let line = pool.waiting.first; line !== undefined; line = pool.waiting.first) {
    if (now - line.since < waitTimeoutMs) return;
    pool.waiting.takeFirst();
    line.from.waiting -= 1;
    if (line.from.open && scan(line.slab, 0, line.length, core.fields)) {
      refuse(core, line.from, line.slab, WORKER_UNAVAILABLE, {
        reason: 'wait_timeout',
        hint: 'no worker of the pool was ready in time; try again later',
        pool: pool.id,
        waitedMs: now - line.since,
      });
    }
    line.from.finishWhenDone();
  }
}
