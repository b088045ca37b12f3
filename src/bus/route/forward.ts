// Hands a client's message to a worker, and remembers who waits for the answer.

import { type Slab, slabOf } from '../flow/slab.js';
import { replaceToken, withoutSession } from '../rewrite/splice.js';
import { Fields } from '../scan/fields.js';
import { scan } from '../scan/scan.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import { Key } from './key.js';
import type { Asker } from './pending.js';
import { readDespite } from './pressure.js';
import { traceMessage } from './trace-message.js';
import type { Worker } from './worker.js';

const busKey = new Key();
const innerKey = new Key();
const inner = new Fields();
const LINE_END = Buffer.from('\n');

export function forwardToWorker(
  core: Core,
  client: Client,
  worker: Worker,
  slab: Slab,
  start: number,
  end: number,
  isRequest: boolean,
  rewriteId: boolean,
): void {
  const { fields } = core;
  const strips = worker.pool.strips && fields.session.start >= 0;
  if (strips || rewriteId) {
    forwardChanged(core, client, worker, { slab, start, end, isRequest, rewriteId, strips });
  } else {
    if (isRequest)
      core.pending.add(core.idKey, worker, fields.id.plain ? client : withRawId(core, client, slab));
    core.batch.add(worker.output, slab, start, end + 1, client);
  }
  if (core.hooks.trace !== undefined) {
    traceMessage(core, slab, end - start, `client ${client.number}`, `worker ${worker.number}`);
  }
  if (worker.stoppedFor !== undefined) readDespite(worker, client);
  if (worker.isBusy) worker.makeWait(client);
}

/** The id has several spellings: an error of ours must have the one that the client uses. */
function withRawId(core: Core, client: Client, slab: Slab): Asker {
  const { start, end } = core.fields.id;
  return { client, rawId: Buffer.from(slab.bytes.subarray(start, end)) };
}

/** A line that does not reach the worker as it is. */
interface Changing {
  readonly slab: Slab;
  readonly start: number;
  readonly end: number;
  readonly isRequest: boolean;
  readonly rewriteId: boolean;
  readonly strips: boolean;
}

function forwardChanged(
  core: Core,
  client: Client,
  worker: Worker,
  { slab, start, end, isRequest, rewriteId, strips }: Changing,
): void {
  const { id: token, session } = core.fields;
  const rawId = isRequest ? Buffer.from(slab.bytes.subarray(token.start, token.end)) : undefined;
  const outer = strips ? Buffer.from(slab.bytes.subarray(session.start, session.end)) : undefined;
  if (isRequest && rawId !== undefined) {
    const key = rewriteId ? busKey.set(Buffer.from(`"bus-${core.newNumber()}"`)) : core.idKey;
    const known = rewriteId ? core.idKey.copy().toString('latin1') : undefined;
    const detour = { client, id: rewriteId ? rawId : undefined, known, session: outer };
    core.pending.add(key, worker, { client, rawId, detour });
    if (known !== undefined) client.rewritten.set(known, key.copy());
  }
  let line: Buffer = Buffer.from(slab.bytes.subarray(start, end));
  if (strips) {
    line = withoutSession(slab, start, end, core.fields);
    noteInnerSession(core, client, worker, slab, outer);
  }
  if (rewriteId) {
    core.counters.rewritten += 1;
    const copy = slabOf(line);
    if (scan(copy, 0, line.length, inner)) {
      line = replaceToken(copy.bytes, [0, line.length], [inner.id.start, inner.id.end], busKey.copy());
    }
  }
  core.batch.commit();
  worker.output.append(Buffer.concat([line, LINE_END]), 0, line.length + 1, client);
}

/** The worker knows the session by the id in `params`: what it sends under that id is for this client, as the outer one. */
function noteInnerSession(
  core: Core,
  client: Client,
  worker: Worker,
  slab: Slab,
  outer: Buffer | undefined,
): void {
  if (!worker.pool.lifts || !innerKey.take(slab.bytes, core.fields.paramsSession)) return;
  const known = core.sessions.find(innerKey);
  if (known === undefined && core.sessions.size < core.settings.limits.maxSessions) {
    core.sessions.add(innerKey, worker, client, Date.now()).outer = outer;
  } else if (known?.owner === client && !known.id.equals(outer ?? known.id)) known.outer = outer;
}
