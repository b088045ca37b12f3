// A client that does not read what it is sent. Nothing for it is dropped: it is made to stop asking, and at last closed.
//
// Half its queue full: it is not read any more, so it asks for nothing new. Its queue full: the worker that feeds it is
// not read either, but only while nobody else waits for that worker or has a session there. Twice its queue full, which
// needs such others, or full for `backpressureTimeoutMs`: it is closed. What the bus itself answers comes in bursts of any
// size (a worker with many requests has died), each of them asked for: for that alone nobody is closed before the time.

import type { Client } from './client.js';
import { DOES_NOT_READ } from './client.js';
import type { Core } from './core.js';
import type { Worker } from './worker.js';

/** Something was queued for the client by this worker, or by the bus itself. Costs one comparison when all is well. */
export function feelPressure(core: Core, client: Client, worker: Worker | undefined): void {
  const max = core.settings.limits.maxOutputQueueBytes;
  const queued = client.output.queuedBytes;
  if (queued * 2 <= max) return;
  client.pause(DOES_NOT_READ);
  client.output.watched = true;
  if (queued <= max) return;
  client.pressureTimer ??= setTimeout(
    () => closeSlow(core, client, 'its queue has been full for too long'),
    core.settings.limits.backpressureTimeoutMs,
  );
  if (worker === undefined) return;
  if (queued > max * 2) closeSlow(core, client, 'its queue is full, and others wait for the same worker');
  else if (worker.stoppedFor === undefined && !worker.pressureChecked) {
    worker.pressureChecked = true;
    if (!othersSuffer(core, worker, client)) {
      worker.stoppedFor = client;
      client.stopped.add(worker);
      worker.stopReading();
    }
  }
}

export function relievePressure(core: Core, client: Client): void {
  const max = core.settings.limits.maxOutputQueueBytes;
  const queued = client.output.queuedBytes;
  if (queued <= max) {
    clearTimeout(client.pressureTimer);
    client.pressureTimer = undefined;
  }
  if (queued * 4 > max) client.output.watched = true;
  if (queued * 2 > max) return;
  for (const worker of client.stopped) worker.readOn();
  if (queued * 4 <= max) client.resume(DOES_NOT_READ);
}

/** Somebody else asks this worker something while it is not read: that one must not wait for a client that does not read. */
export function readDespite(worker: Worker, client: Client): void {
  if (worker.stoppedFor !== undefined && worker.stoppedFor !== client) worker.readOn();
}

function othersSuffer(core: Core, worker: Worker, client: Client): boolean {
  for (const session of worker.sessions) if (session.owner !== client) return true;
  return core.pending.othersWait(worker, client);
}

function closeSlow(core: Core, client: Client, why: string): void {
  if (!client.open) return;
  core.counters.closedForBackpressure += 1;
  const queuedBytes = client.output.queuedBytes;
  core.hooks.log.warn('client closed: it does not read', { client: client.name, why, queuedBytes });
  client.drop(why);
}
