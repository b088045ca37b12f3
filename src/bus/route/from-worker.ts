// The way of a worker's message: an answer to the client that asked, all else to the owner of its session.

import { type Slab, slabOf } from '../flow/slab.js';
import { OVERLOADED } from '../protocol.js';
import { replaceToken, withSession } from '../rewrite/splice.js';
import { Fields } from '../scan/fields.js';
import { scan } from '../scan/scan.js';
import { errorAnswer } from './answers.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import type { HeldLine } from './held.js';
import { Key } from './key.js';
import type { Asker, Detour } from './pending.js';
import { feelPressure } from './pressure.js';
import { noteRubbish } from './rubbish.js';
import { traceMessage } from './trace-message.js';
import { noteAsk, refuseAsk } from './worker-requests.js';
import type { Worker } from './worker.js';

const LINE_END = Buffer.from('\n');
const resultKey = new Key();
const changed = new Fields();

/** `again`: it has waited, and was counted when it came. */
export function routeFromWorker(
  core: Core,
  worker: Worker,
  slab: Slab,
  start: number,
  end: number,
  again?: HeldLine<Worker, Worker>,
): void {
  const { fields } = core;
  if (!scan(slab, start, end, fields)) {
    core.counters.rubbishFromWorkers += 1;
    noteRubbish(core, worker, slab.bytes.subarray(start, end), 'no JSON object');
    return;
  }
  if (again === undefined) core.counters.messagesFromWorkers += 1;
  const hasId = core.idKey.take(slab.bytes, fields.id);
  if (hasId && (fields.methodStart < 0 || fields.hasResult || fields.hasError)) {
    routeReply(core, worker, slab, start, end);
  } else routeToOwner(core, worker, slab, start, end, hasId, again);
}

/** An answer that is longer than a line may be: whoever asked is told so, when it can be seen who that is. */
export function refuseReply(core: Core, worker: Worker, id: Key): boolean {
  const asker = core.pending.take(id, worker);
  if (asker === undefined) return false;
  const { maxInputBufferBytes: maxBytes } = core.settings.limits;
  const hint = 'the answer is longer than limits.max_input_buffer; ask for less, or raise it';
  asker.own?.fail(new Error(hint));
  const client = asker.client;
  if (client !== undefined) {
    if (asker.detour?.known !== undefined) client.rewritten.delete(asker.detour.known);
    core.counters.errorsAnswered += 1;
    const answer = errorAnswer(asker.rawId ?? id.copy(), OVERLOADED, { reason: 'too_large', hint, maxBytes });
    client.send(answer);
    client.finishWhenDone();
  }
  settled(core, worker);
  return true;
}

function routeReply(core: Core, worker: Worker, slab: Slab, start: number, end: number): void {
  const asker = core.pending.take(core.idKey, worker);
  if (asker === undefined) {
    core.counters.repliesDropped += 1;
    core.hooks.log.debug('answer that nobody waits for', { worker: worker.name });
    if (core.hooks.trace !== undefined) traceDropped(core, worker, slab, end - start, 'not asked for');
    return;
  }
  const { client, detour } = asker;
  if (client === undefined) asker.own?.answer(slab.bytes.toString('utf8', start, end));
  else if (client.open) {
    if (core.fields.resultSession.start >= 0) bindResult(core, worker, client, slab, detour);
    if (detour === undefined) core.batch.add(client.output, slab, start, end + 1, worker);
    else sendBack(core, client, detour, slab, start, end, worker);
    if (core.hooks.trace !== undefined) traceDelivered(core, worker, client, slab, end - start);
    feelPressure(core, client, worker);
    if (client.inputEnded) client.finishWhenDone();
  } else forgetLate(core, asker);
  settled(core, worker);
}

/** A request of the worker, or a notification: to whom the session belongs. */
function routeToOwner(
  core: Core,
  worker: Worker,
  slab: Slab,
  start: number,
  end: number,
  isRequest: boolean,
  again: HeldLine<Worker, Worker> | undefined,
): void {
  const { fields, sessionKey } = core;
  const known =
    sessionKey.take(slab.bytes, fields.session) ||
    (worker.pool.lifts && sessionKey.take(slab.bytes, fields.paramsSession));
  const session = known ? core.sessions.find(sessionKey) : undefined;
  if (session === undefined || !worker.speaksFor(session)) {
    if (isRequest) refuseAsk(core, worker, slab);
    else {
      core.counters.notificationsDropped += 1;
      core.hooks.log.warn('message of a worker for nobody', { worker: worker.name, hasSession: known });
    }
    if (core.hooks.trace !== undefined) traceDropped(core, worker, slab, end - start, 'no session');
    return;
  }
  const client = session.owner;
  if (core.settings.sessionTtlMs !== undefined) session.usedAt = Date.now();
  // A question that has to wait is told later than it was asked; what it is not about goes on, and answers never overtake notifications.
  if (isRequest && noteAsk(core, worker, client, slab, start, end, again) !== 'asks') return;
  if (worker.pool.strips && fields.sessionKeyStart < 0) {
    const line = withSession(slab, start, end, fields, session.outer ?? session.id);
    sendChanged(core, client, line, worker);
  } else core.batch.add(client.output, slab, start, end + 1, worker);
  if (core.hooks.trace !== undefined) traceDelivered(core, worker, client, slab, end - start);
  feelPressure(core, client, worker);
}

/** `result.sessionId`: from now on a session of that worker and of whoever asked. */
function bindResult(
  core: Core,
  worker: Worker,
  client: Client,
  slab: Slab,
  detour: Detour | undefined,
): void {
  if (!worker.pool.lifts || !resultKey.take(slab.bytes, core.fields.resultSession)) return;
  const known = core.sessions.find(resultKey);
  if (known !== undefined) {
    if (known.owner === client && known.worker !== worker) core.sessions.bind(known, worker);
    return;
  }
  if (core.sessions.size >= core.settings.limits.maxSessions) {
    core.hooks.log.warn('session not remembered: there are too many', { client: client.name });
    return;
  }
  core.counters.sessionsOpened += 1;
  core.sessions.add(resultKey, worker, client, Date.now()).outer = detour?.session;
}

function sendBack(
  core: Core,
  client: Client,
  detour: Detour,
  slab: Slab,
  start: number,
  end: number,
  worker: Worker,
): void {
  let line: Buffer = Buffer.from(slab.bytes.subarray(start, end));
  if (detour.id !== undefined) {
    const { id } = core.fields;
    line = replaceToken(slab.bytes, [start, end], [id.start, id.end], detour.id);
    client.rewritten.delete(detour.known ?? '');
  }
  if (detour.session !== undefined) {
    const copy = slabOf(line);
    if (scan(copy, 0, line.length, changed))
      line = withSession(copy, 0, line.length, changed, detour.session);
  }
  sendChanged(core, client, line, worker);
}

function sendChanged(core: Core, client: Client, line: Buffer, worker: Worker): void {
  core.batch.commit();
  if (client.output.framed) client.output.appendFrame(line, 0, line.length, worker);
  else client.output.append(Buffer.concat([line, LINE_END]), 0, line.length + 1, worker);
}

/** The client has gone while its request was under way. */
function forgetLate(core: Core, { client, detour }: Asker): void {
  core.counters.repliesDropped += 1;
  if (detour?.known !== undefined) client?.rewritten.delete(detour.known);
}

function settled(core: Core, worker: Worker): void {
  if (worker.pool.holders.size > 0)
    for (const client of worker.pool.holders) core.retries.add(client.retryHeld);
  if (worker.onIdle.length > 0) worker.lookIdle();
}

function traceDelivered(core: Core, worker: Worker, client: Client, slab: Slab, bytes: number): void {
  traceMessage(core, slab, bytes, `worker ${worker.number}`, `client ${client.number}`);
}

function traceDropped(core: Core, worker: Worker, slab: Slab, bytes: number, why: string): void {
  traceMessage(core, slab, bytes, `worker ${worker.number}`, 'bus', why);
}
