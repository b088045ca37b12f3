// What is to be told and forgotten when a worker or a client goes.

import { SESSION_LOST_METHOD, WORKER_EXITED } from '../protocol.js';
import { errorAnswer } from './answers.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import { Key } from './key.js';
import { refuseAsksOf } from './worker-requests.js';
import type { Worker } from './worker.js';

const key = new Key();

/** Its process is gone: nobody who waits for it is left without an answer. */
export function loseWorker(core: Core, worker: Worker, why: string): void {
  worker.destroy();
  core.workers.delete(worker);
  core.counters.workersRemoved += 1;
  const at = worker.pool.workers.indexOf(worker);
  if (at >= 0) worker.pool.workers.splice(at, 1);
  const touched = new Set<Client>();
  for (const { id, asker } of core.pending.takeAll(worker)) {
    asker.own?.fail(new Error(`the worker is gone: ${why}`));
    const { client } = asker;
    if (client === undefined) continue;
    touched.add(client);
    if (asker.detour?.known !== undefined) client.rewritten.delete(asker.detour.known);
    if (!client.open) continue;
    core.counters.errorsAnswered += 1;
    client.send(
      errorAnswer(asker.rawId ?? id, WORKER_EXITED, {
        reason: 'worker_exited',
        hint: 'it may have done part of what was asked; ask again if that does no harm',
        pool: worker.pool.id,
        worker: worker.number,
        why,
      }),
    );
  }
  for (const session of worker.sessions) {
    core.sessions.remove(session, key);
    core.counters.sessionsLost += 1;
    if (core.settings.notifyLoss) tellLost(session.owner, session.outer ?? session.id, worker, why);
  }
  // What it asked stays known until it is answered: the answer must not be taken for that of the next who asks under this id.
  core.askedByGone += worker.asking;
  worker.stoppedFor?.stopped.delete(worker);
  for (const client of touched) client.finishWhenDone();
  for (const client of worker.pool.holders) core.retries.add(client.retryHeld);
  worker.lookIdle();
  core.sourceDone();
}

export function loseClient(core: Core, client: Client): void {
  core.pending.abandon(client);
  for (const session of client.sessions) {
    core.sessions.remove(session, key);
    session.worker.orphan(session);
  }
  refuseAsksOf(core, client);
  for (const worker of client.stopped) worker.readOn();
  for (const pool of core.pools.values()) pool.holders.delete(client);
  client.held.takeAll();
}

function tellLost(client: Client, id: Buffer, worker: Worker, why: string): void {
  const params = JSON.stringify({ pool: worker.pool.id, worker: worker.number, why });
  const head = Buffer.from(`{"jsonrpc":"2.0","method":${JSON.stringify(SESSION_LOST_METHOD)},"sessionId":`);
  client.send(Buffer.concat([head, id, Buffer.from(`,"params":${params}}\n`)]));
}
