// How a client that has lost its link comes to another.

import { setTimeout as delay } from 'node:timers/promises';
import { LocalError, toError } from '../../base/errors.js';
import type { Link } from '../../wire/transport/link.js';

/** The second try comes this long after the first, which is made at once; each further one after twice as long. */
export const FIRST_PAUSE_MS = 100;
/** And no longer than this: a host that is back is found soon. */
export const LONGEST_PAUSE_MS = 5000;

export interface ReconnectOptions {
  /** Makes a new link to where the old one led. */
  readonly connect: (options: { readonly signal: AbortSignal; readonly attempt: number }) => Promise<Link>;
  /** From the loss of a link until everything that waits is given up; as long as the server waits, unless given. */
  readonly timeoutMs?: number;
  /** How long the server shall wait for us; never longer than it would. */
  readonly windowMs?: number;
  /** Gives up when it aborts. */
  readonly signal?: AbortSignal;
  readonly onLost?: (reason: Error) => void;
  readonly onResumed?: () => void;
}

/** The session is gone for good, and with it what it started. */
export class SessionLostError extends LocalError {
  override readonly name = 'SessionLostError';

  constructor(why: string, cause?: unknown) {
    super('session_lost', `the session is lost: ${why}`, { cause });
  }
}

/** `attempt` until it gives something; rejects with what it throws as SessionLostError, or when `signal` aborts. */
export async function tryAgain<T>(attempt: (nth: number) => Promise<T>, signal: AbortSignal): Promise<T> {
  let last: Error | undefined;
  for (let nth = 0; ; nth += 1) {
    if (nth > 0) await delay(pauseMs(nth), undefined, { signal }).catch(() => {});
    if (signal.aborted) throw givenUp(signal, last);
    try {
      return await attempt(nth);
    } catch (thrown) {
      if (thrown instanceof SessionLostError) throw thrown;
      last = toError(thrown);
    }
  }
}

/** Not all at the same moment, when many have lost the same host. */
function pauseMs(nth: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (nth - 1), LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);
}

function givenUp(signal: AbortSignal, last: Error | undefined): Error {
  const reason = toError(signal.reason);
  const why = last === undefined ? reason.message : `${reason.message}; the last attempt: ${last.message}`;
  return new SessionLostError(why, last ?? reason);
}
