// A line that must wait: its id is another client's at the worker it has to go to, or that worker's queue is full.

import { OVERLOADED } from '../protocol.js';
import type { Slab } from '../flow/slab.js';
import { scan } from '../scan/scan.js';
import { refuse } from './answers.js';
import { type Client, HOLDS } from './client.js';
import type { Core } from './core.js';
import { type HeldLine, MAX_HELD_BYTES } from './held.js';
import { isTaken, type Pool } from './pool.js';
import type { Worker } from './worker.js';

/**
 * How long a line waits for an id that only a client that has left still has at the worker; then another id stands in for
 * it there. It is also how often that is looked at.
 */
export const GONE_ASKER_MS = 1000;

export function hold(
  core: Core,
  client: Client,
  pool: Pool,
  worker: Worker | undefined,
  slab: Slab,
  start: number,
  end: number,
  again: HeldLine<Client, Worker> | undefined,
): void {
  // The worker it waited for may be gone: those behind it must follow it to the one it waits for now.
  if (again !== undefined) client.held.putBack(again.to === worker ? again : { ...again, to: worker });
  else {
    client.held.add(slab, start, end, client, worker, pool.id);
    core.counters.held += 1;
  }
  pool.holders.add(client);
  for (const { output } of pool.workers) output.watched = true;
  if (client.held.bytes > MAX_HELD_BYTES) client.pause(HOLDS);
  planTimeout(core, client);
}

/** Something may have become free: each line is tried again, in order. */
export function retryHeld(core: Core, client: Client, route: (line: HeldLine<Client, Worker>) => void): void {
  if (client.held.length === 0 || !client.open) return;
  for (const line of client.held.takeAll()) route(line);
  core.batch.commit();
  if (client.held.bytes <= MAX_HELD_BYTES / 2) client.resume(HOLDS);
  if (client.held.length === 0) {
    for (const pool of core.pools.values()) pool.holders.delete(client);
    clearTimeout(client.heldTimer);
    client.heldTimer = undefined;
    client.finishWhenDone();
  }
}

function planTimeout(core: Core, client: Client): void {
  const first = client.held.first;
  if (client.heldTimer !== undefined || first === undefined) return;
  const dueMs = first.since + core.settings.limits.backpressureTimeoutMs - Date.now();
  client.heldTimer = setTimeout(
    () => {
      client.heldTimer = undefined;
      refuseOverdue(core, client);
      client.retryHeld();
      planTimeout(core, client);
      core.sourceDone(); // what could go now is written now
    },
    Math.max(1, Math.min(dueMs, GONE_ASKER_MS)),
  );
}

/** The first of them. Those behind it may only have waited for it to go. */
function refuseOverdue(core: Core, client: Client): void {
  const waitedMs = Date.now() - (client.held.first?.since ?? Date.now());
  if (waitedMs < core.settings.limits.backpressureTimeoutMs) return;
  const line = client.held.takeFirst();
  if (line === undefined || !scan(line.slab, 0, line.length, core.fields)) return;
  const facts = { pool: line.pool, waitedMs };
  if (isIdTaken(core, client, line)) {
    refuse(core, client, line.slab, OVERLOADED, {
      reason: 'id_taken',
      hint: 'another client waits for an answer with this id from the same worker; use ids of your own, or set idCollision to "rewrite"',
      ...facts,
    });
    return;
  }
  const hint = 'the worker does not read what is sent to it; try again later';
  refuse(core, client, line.slab, OVERLOADED, { reason: 'queue_full', hint, ...facts });
}

/** Or it waited for room at the worker. */
function isIdTaken(core: Core, client: Client, { slab, to, pool }: HeldLine<Client, Worker>): boolean {
  if (!core.idKey.take(slab.bytes, core.fields.id)) return false;
  const workers = to === undefined ? (core.pools.get(pool)?.workers ?? []) : [to];
  return workers.some((worker) => isTaken(core, core.idKey, worker, client));
}
