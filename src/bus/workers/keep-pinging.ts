// Whether a worker still answers: a request of the bus's own, now and then.

import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import type { PoolConfig } from '../config/schema.js';
import { OwnRequestError } from '../route/own-requests.js';
import type { BusWorkerHandle } from '../route/settings.js';

export interface PingOptions {
  /** Aborts when the worker is gone. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Once, and then there are no more pings. */
  readonly onSilent: (why: string) => void;
}

/** An error is an answer too: a worker that does not know the method is alive. */
export async function keepPinging(
  handle: Pick<BusWorkerHandle, 'request' | 'name'>,
  ping: NonNullable<PoolConfig['ping']>,
  { signal, log, onSilent }: PingOptions,
): Promise<void> {
  for (;;) {
    await delay(ping.interval_ms, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    try {
      await handle.request(ping.method, {}, ping.timeout_ms);
    } catch (thrown) {
      if (signal.aborted) return;
      if (thrown instanceof OwnRequestError && thrown.code === 'timeout') {
        onSilent(`no answer to ${ping.method} within ${ping.timeout_ms} ms`);
        return;
      }
      log.debug('a ping was answered with an error', {
        worker: handle.name,
        reason: toError(thrown).message,
      });
    }
  }
}
