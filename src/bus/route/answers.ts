// What the bus answers itself, byte for byte: the id of a request goes back as it came.

import { type BusErrorCode, type BusErrorData, ERROR_TEXT } from '../protocol.js';
import type { Slab } from '../flow/slab.js';
import type { Client } from './client.js';
import type { Core } from './core.js';

const HEAD = Buffer.from('{"jsonrpc":"2.0","id":');
const NULL = Buffer.from('null');

export function errorAnswer(id: Buffer | undefined, code: BusErrorCode, data: BusErrorData): Buffer {
  const error = JSON.stringify({ code, message: ERROR_TEXT[code], data });
  return Buffer.concat([HEAD, id ?? NULL, Buffer.from(`,"error":${error}}\n`)]);
}

export function resultAnswer(id: Buffer, result: unknown): Buffer {
  return Buffer.concat([HEAD, id, Buffer.from(`,"result":${JSON.stringify(result ?? null)}}\n`)]);
}

/** The id of the message that is being routed, as its sender wrote it. */
export function rawId(core: Core, slab: Slab): Buffer | undefined {
  const { start, end } = core.fields.id;
  return start < 0 ? undefined : Buffer.from(slab.bytes.subarray(start, end));
}

/** A request is answered; a notification, which nobody waits for, is told to the log. */
export function refuse(core: Core, client: Client, slab: Slab, code: BusErrorCode, data: BusErrorData): void {
  const id = rawId(core, slab);
  if (id === undefined) {
    core.counters.notificationsDropped += 1;
    core.hooks.log.warn('notification not delivered', { client: client.name, ...data });
    return;
  }
  core.counters.errorsAnswered += 1;
  client.send(errorAnswer(id, code, data));
}

/** The client cannot be understood: it is told why, and closed. */
export function refuseAndClose(
  core: Core,
  client: Client,
  id: Buffer | undefined,
  code: BusErrorCode,
  data: BusErrorData,
): void {
  core.counters.errorsAnswered += 1;
  core.hooks.log.warn('client closed: its message cannot be used', { client: client.name, ...data });
  client.send(errorAnswer(id, code, data));
  client.close(data.reason);
}
