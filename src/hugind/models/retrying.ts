// Another attempt at what may go better a little later, with growing pauses; what is sure to fail again is not tried.

import { setTimeout as delay } from 'node:timers/promises';
import { HugindError } from '../errors.js';
import { ConnectionLostError } from './hub-request.js';

/** Attempts in a row that bring nothing; one that brings something begins the count anew. */
export const MAX_VAIN_ATTEMPTS = 6;
/** However long a hub asks us to stay away. */
export const MAX_RETRY_PAUSE_MS = 30_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 8000;

/** What failed, and when the other side wants to be asked again. */
export class TryAgainError extends HugindError {
  readonly retryAfter: string | undefined;

  constructor(error: HugindError, retryAfter?: string) {
    super(error.code, error.message, { data: { ...error.facts }, cause: error.cause });
    this.retryAfter = retryAfter;
  }
}

/** `attempt` is told how to say that it has got on. */
export async function retrying<T>(
  signal: AbortSignal,
  attempt: (gotOn: () => void) => Promise<T>,
  pauses: { readonly firstMs?: number } = {},
): Promise<T> {
  const { firstMs = FIRST_PAUSE_MS } = pauses;
  let vain = 0;
  const gotOn = (): void => {
    vain = 0;
  };
  for (;;) {
    try {
      return await attempt(gotOn);
    } catch (thrown) {
      signal.throwIfAborted();
      if (!(thrown instanceof TryAgainError) && !(thrown instanceof ConnectionLostError)) throw thrown;
      vain += 1;
      if (vain >= MAX_VAIN_ATTEMPTS) throw thrown;
      const asked = thrown instanceof TryAgainError ? pauseAskedFor(thrown.retryAfter) : 0;
      const own = Math.min(firstMs * 2 ** (vain - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random());
      await delay(Math.max(own, asked), undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
    }
  }
}

function pauseAskedFor(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return 0;
  const seconds = Number(retryAfter);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_PAUSE_MS) : 0;
}
