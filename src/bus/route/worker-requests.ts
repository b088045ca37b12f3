// Requests that a worker makes of a client, and the client's answers, which go back to the worker that asked.

import { type Slab, slabOf } from '../flow/slab.js';
import { withoutSession } from '../rewrite/splice.js';
import { OVERLOADED, WORKER_UNAVAILABLE } from '../protocol.js';
import { scan } from '../scan/scan.js';
import { errorAnswer, rawId } from './answers.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import { type HeldLine, MAX_HELD_BYTES } from './held.js';
import type { Key } from './key.js';
import { traceMessage } from './trace-message.js';
import type { Worker } from './worker.js';

/** `asks`: it may go now. `held`: it must wait. `refused`: the worker has its answer. */
export function noteAsk(
  core: Core,
  worker: Worker,
  client: Client,
  slab: Slab,
  start: number,
  end: number,
  again: HeldLine<Worker, Worker> | undefined,
): 'asks' | 'held' | 'refused' {
  const key = core.idKey;
  const holder = askerOf(core, client, key);
  const mustFollow = client.heldAsks.length > 0 && client.heldAsks.some(({ from }) => from === worker);
  if ((holder !== undefined && holder !== worker) || mustFollow) {
    if (client.heldAsks.bytes + end - start > MAX_HELD_BYTES) {
      answerWorker(
        core,
        worker,
        slab,
        OVERLOADED,
        'queue_full',
        'the client has not answered earlier requests',
      );
      return 'refused';
    }
    if (again === undefined) client.heldAsks.add(slab, start, end, worker, worker, worker.pool.id);
    else client.heldAsks.putBack(again);
    planAskTimeout(core, client);
    return 'held';
  }
  if (isFull(core)) {
    answerWorker(
      core,
      worker,
      slab,
      OVERLOADED,
      'too_many_pending',
      'clients have not answered what was asked',
    );
    return 'refused';
  }
  core.asked.add(key.bytes, key.start, key.end, key.hash, client.number, worker);
  client.asked += 1;
  worker.asking += 1;
  return 'asks';
}

/** A worker must not wait for ever for a client that is not there. */
export function refuseAsk(core: Core, worker: Worker, slab: Slab): void {
  answerWorker(core, worker, slab, WORKER_UNAVAILABLE, 'no_client', 'no client owns this session');
}

/** A client's message with a result or an error: to the worker that asked this client, else to its session's worker. */
export function routeAnswer(
  core: Core,
  client: Client,
  slab: Slab,
  start: number,
  end: number,
  hasId: boolean,
  hasSession: boolean,
): void {
  const session = hasSession ? core.sessions.find(core.sessionKey) : undefined;
  const own = session?.owner === client ? session : undefined;
  const asker = hasId ? takeAsker(core, client, core.idKey) : undefined;
  const worker = asker ?? own?.worker;
  if (worker === undefined || worker.state === 'gone') {
    core.counters.answersDropped += 1;
    core.hooks.log.warn('answer to nothing that was asked', { client: client.name });
    if (client.heldAsks.length > 0) core.retries.add(client.retryAsks);
    return;
  }
  if (worker.pool.strips && core.fields.session.start >= 0) {
    const line = slabOf(withoutSession(slab, start, end, core.fields));
    core.batch.commit();
    worker.output.append(line.bytes, 0, line.bytes.length, client);
  } else core.batch.add(worker.output, slab, start, end + 1, client);
  if (worker.isBusy) worker.makeWait(client);
  if (core.hooks.trace !== undefined) {
    traceMessage(core, slab, end - start, `client ${client.number}`, `worker ${worker.number}`);
  }
  if (client.heldAsks.length > 0) core.retries.add(client.retryAsks);
}

/** The client is gone: every worker that waits for an answer of it is told. */
export function refuseAsksOf(core: Core, client: Client): void {
  for (const { from, slab, length } of client.heldAsks.takeAll()) {
    if (from.state !== 'gone' && scan(slab, 0, length, core.fields)) refuseAsk(core, from, slab);
  }
  if (client.asked === 0) return;
  core.asked.forEach((entry, worker) => {
    if (core.asked.tagAt(entry) !== client.number) return;
    const data = { reason: 'no_client', hint: 'the client has gone' } as const;
    if (worker.state !== 'gone') worker.send(errorAnswer(core.asked.keyAt(entry), WORKER_UNAVAILABLE, data));
    forget(core, entry, worker);
  });
}

function askerOf(core: Core, client: Client, key: Key): Worker | undefined {
  if (client.asked === 0) return undefined;
  const entry = core.asked.find(key.bytes, key.start, key.end, key.hash, client.number);
  return entry < 0 ? undefined : core.asked.valueAt(entry);
}

function takeAsker(core: Core, client: Client, key: Key): Worker | undefined {
  const entry = core.asked.find(key.bytes, key.start, key.end, key.hash, client.number);
  if (entry < 0) return undefined;
  const worker = core.asked.valueAt(entry);
  forget(core, entry, worker);
  client.asked -= 1;
  return worker;
}

function forget(core: Core, entry: number, worker: Worker): void {
  core.asked.remove(entry);
  worker.asking -= 1;
  if (worker.state === 'gone') core.askedByGone -= 1;
}

/** Questions of workers that are gone do not count, until there are as many of them besides. */
function isFull(core: Core): boolean {
  const max = core.settings.limits.maxPending;
  return core.asked.size - core.askedByGone >= max || core.asked.size >= max * 2;
}

/** The client may never answer the question that has its id: whoever asks next must not wait for ever. */
function planAskTimeout(core: Core, client: Client): void {
  const first = client.heldAsks.first;
  if (client.heldAsksTimer !== undefined || first === undefined) return;
  const dueMs = first.since + core.settings.limits.backpressureTimeoutMs - Date.now();
  client.heldAsksTimer = setTimeout(
    () => {
      client.heldAsksTimer = undefined;
      refuseOverdueAsk(core, client);
      core.retries.add(client.retryAsks);
      core.sourceDone();
      planAskTimeout(core, client);
    },
    Math.max(1, dueMs),
  );
}

/** The first of them. Those behind it may only have waited for it to go. */
function refuseOverdueAsk(core: Core, client: Client): void {
  const first = client.heldAsks.first;
  if (first === undefined || Date.now() - first.since < core.settings.limits.backpressureTimeoutMs) return;
  client.heldAsks.takeFirst();
  const { from, slab, length } = first;
  if (from.state === 'gone' || !scan(slab, 0, length, core.fields)) return;
  const hint = 'the client has not answered another worker’s request with the same id; use ids of your own';
  answerWorker(core, from, slab, OVERLOADED, 'id_taken', hint);
}

function answerWorker(
  core: Core,
  worker: Worker,
  slab: Slab,
  code: typeof OVERLOADED | typeof WORKER_UNAVAILABLE,
  reason: 'queue_full' | 'too_many_pending' | 'no_client' | 'id_taken',
  hint: string,
): void {
  const id = rawId(core, slab);
  // One that asks on and on and reads nothing has no use for it, and stopping it might stop its answers to others.
  if (worker.output.queuedBytes >= core.settings.limits.maxWorkerQueueBytes) {
    core.counters.answersDropped += 1;
    core.hooks.log.warn('request of a worker not delivered, nor answered: it does not read', {
      worker: worker.name,
      reason,
    });
    return;
  }
  core.hooks.log.warn('request of a worker not delivered', { worker: worker.name, reason });
  if (id !== undefined) worker.send(errorAnswer(id, code, { reason, hint }));
}
