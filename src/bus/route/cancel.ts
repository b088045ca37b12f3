// A cancellation goes where the request is that it takes back: to the worker that has it, under the id it has there.

import type { Slab } from '../flow/slab.js';
import { replaceToken } from '../rewrite/splice.js';
import { CANCEL_METHODS } from '../protocol.js';
import { Fields } from '../scan/fields.js';
import { scan } from '../scan/scan.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import { Key } from './key.js';
import { isEscaped, methodOf } from './method.js';
import type { Worker } from './worker.js';

const TOKENS = CANCEL_METHODS.map((method) => Buffer.from(JSON.stringify(method)));
const inner = new Fields();
const key = new Key();

export function isCancellation(fields: Fields, slab: Slab): boolean {
  const length = fields.methodEnd - fields.methodStart;
  if (fields.methodStart < 0) return false;
  for (const token of TOKENS) {
    if (token.length !== length) continue;
    if (slab.bytes.compare(token, 0, length, fields.methodStart, fields.methodEnd) === 0) return true;
  }
  return isEscaped(fields, slab) && CANCEL_METHODS.some((method) => method === methodOf(fields, slab));
}

/** `sent`: it is on its way. `unnamed`: it does not say what it cancels. `unknown`: nothing of this client has that id. */
export function findCancelled(
  core: Core,
  client: Client,
  slab: Slab,
  start: number,
  end: number,
): 'sent' | 'unnamed' | 'unknown' {
  if (!takeCancelledId(core, slab)) return 'unnamed';
  const token = inner.id.start >= 0 ? inner.id : inner.requestId;
  const stoodIn = client.rewritten.get(key.copy().toString('latin1'));
  if (stoodIn !== undefined) {
    key.set(stoodIn);
    const worker = holderOf(core, client);
    if (worker === undefined) return 'unknown';
    const line = replaceToken(slab.bytes, [start, end + 1], [token.start, token.end], stoodIn);
    core.batch.commit();
    worker.output.append(line, 0, line.length, client);
    return 'sent';
  }
  const worker = holderOf(core, client);
  if (worker === undefined) return isHeld(client) ? 'unnamed' : 'unknown';
  core.batch.add(worker.output, slab, start, end + 1, client);
  return 'sent';
}

/** `params.id` or `params.requestId`, into `key`. */
function takeCancelledId(core: Core, slab: Slab): boolean {
  const { paramsStart, paramsEnd } = core.fields;
  if (paramsStart < 0) return false;
  const { bytes } = slab;
  const behind = bytes[paramsEnd]!;
  bytes[paramsEnd] = 10; // the scanner wants a line's end there
  const isObject = scan(slab, paramsStart, paramsEnd, inner);
  bytes[paramsEnd] = behind;
  return isObject && (key.take(bytes, inner.id) || key.take(bytes, inner.requestId));
}

function holderOf(core: Core, client: Client): Worker | undefined {
  for (const worker of core.workers) {
    if (core.pending.peek(key, worker)?.client === client) return worker;
  }
  return undefined;
}

/** The request itself may not have left yet: the cancellation then has to go the same way behind it. */
function isHeld(client: Client): boolean {
  return client.held.length > 0 || client.waiting > 0;
}
