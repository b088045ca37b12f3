// One attempt after another, with longer and longer pauses, until one succeeds or nobody wants it any more.

import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../base/errors.js';

/** The second try comes this long after the first, which is made at once; each further one after twice as long. */
export const FIRST_PAUSE_MS = 100;
/** And no longer than this: a host that is back is found soon. */
export const LONGEST_PAUSE_MS = 5000;

export interface TryAgainOptions {
  readonly signal: AbortSignal;
  /** Whether what an attempt threw will be thrown by every further one too: then it is thrown on at once. */
  readonly isFinal: (thrown: unknown) => boolean;
  /** What is thrown when the signal aborts, with what the last attempt threw. */
  readonly givenUp: (reason: Error, last: Error | undefined) => Error;
}

/** `attempt` until it gives something. */
export async function tryAgain<T>(
  attempt: (nth: number) => Promise<T>,
  { signal, isFinal, givenUp }: TryAgainOptions,
): Promise<T> {
  let last: Error | undefined;
  for (let nth = 0; ; nth += 1) {
    if (nth > 0) await delay(pauseMs(nth), undefined, { signal }).catch(() => {});
    if (signal.aborted) throw givenUp(toError(signal.reason), last);
    try {
      return await attempt(nth);
    } catch (thrown) {
      if (isFinal(thrown)) throw thrown;
      last = toError(thrown);
    }
  }
}

/** Not all at the same moment, when many have lost the same host. */
function pauseMs(nth: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (nth - 1), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);
}
