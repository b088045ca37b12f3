// The few methods that the bus answers itself: `bus/auth`, `bus/stats`, `bus/restart`.

import type { Slab } from '../flow/slab.js';
import { toError } from '../../base/errors.js';
import {
  AUTH_METHOD,
  type BusErrorData,
  CONTROL_REFUSED,
  NOT_AUTHENTICATED,
  RESTART_METHOD,
  STATS_METHOD,
} from '../protocol.js';
import type { Fields } from '../scan/fields.js';
import { errorAnswer, rawId, refuseAndClose, resultAnswer } from './answers.js';
import type { Client } from './client.js';
import type { Core } from './core.js';
import { describeStats } from './describe-stats.js';
import { methodOf } from './method.js';

const PREFIX = Buffer.from('bus/');
const BACKSLASH = 92;

/** Whether it is worth a closer look: `"bus/`, which all of them begin with, or an escape that may stand for any of it. */
export function isControl(fields: Fields, slab: Slab): boolean {
  const { bytes } = slab;
  for (let i = 0, p = fields.methodStart + 1; i < PREFIX.length; i += 1, p += 1) {
    if (bytes[p] !== PREFIX[i]) return bytes[p] === BACKSLASH;
  }
  return true;
}

/** False: it only looks like one, and is somebody else's to answer. */
export function answerControl(core: Core, client: Client, slab: Slab, start: number, end: number): boolean {
  const id = rawId(core, slab);
  const method = methodOf(core.fields, slab);
  if (method === AUTH_METHOD) {
    if (id !== undefined) client.send(resultAnswer(id, { authenticated: true }));
    return true;
  }
  if (method === STATS_METHOD) {
    if (id !== undefined) client.send(resultAnswer(id, core.hooks.describe?.() ?? describeStats(core)));
    return true;
  }
  if (method !== RESTART_METHOD) return false;
  void restart(core, client, id, paramsOf(slab, start, end));
  return true;
}

/** The first line of a client that has to show a token. False: it did not. */
export function authenticate(core: Core, client: Client, slab: Slab, start: number, end: number): boolean {
  const id = rawId(core, slab);
  const params = methodOf(core.fields, slab) === AUTH_METHOD ? paramsOf(slab, start, end) : undefined;
  const token = (params as { token?: unknown } | null | undefined)?.token;
  if (typeof token === 'string' && client.options.checkToken?.(token) === true) {
    client.authenticated = true;
    if (id !== undefined) client.send(resultAnswer(id, { authenticated: true }));
    return true;
  }
  refuseAndClose(core, client, id, NOT_AUTHENTICATED, {
    reason: 'not_authenticated',
    hint:
      typeof token === 'string'
        ? 'the token is not that of this bus'
        : `the first message must be ${AUTH_METHOD} with params.token`,
  });
  return false;
}

async function restart(core: Core, client: Client, id: Buffer | undefined, params: unknown): Promise<void> {
  const { restart: doRestart } = core.hooks;
  const trusted = client.options.trusted === true;
  if (!trusted || doRestart === undefined) {
    const hint = trusted ? 'this bus cannot restart workers' : 'use the socket of the bus, or a token';
    refuseControl(core, client, id, { reason: 'not_allowed', hint });
    return;
  }
  client.pending += 1; // a client that has ended its side still waits for this answer
  try {
    const result = await doRestart(params, { name: client.name, trusted });
    if (id !== undefined) client.send(resultAnswer(id, result));
  } catch (thrown) {
    refuseControl(core, client, id, { reason: 'failed', hint: toError(thrown).message });
  } finally {
    client.pending -= 1;
    client.finishWhenDone();
  }
}

/** Who does not wait for an answer gets none. */
function refuseControl(core: Core, client: Client, id: Buffer | undefined, data: BusErrorData): void {
  core.hooks.log.warn('restart refused', { client: client.name, ...data });
  if (id === undefined) return;
  core.counters.errorsAnswered += 1;
  client.send(errorAnswer(id, CONTROL_REFUSED, data));
}

function paramsOf({ bytes }: Slab, start: number, end: number): unknown {
  return (JSON.parse(bytes.toString('utf8', start, end)) as { params?: unknown }).params;
}
