// How a client that has lost its link comes to another.

import { LocalError } from '../../base/errors.js';
import type { Link } from '../../wire/transport/link.js';
import { tryAgain } from '../try-again.js';

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
export async function tryToResume<T>(attempt: (nth: number) => Promise<T>, signal: AbortSignal): Promise<T> {
  return await tryAgain(attempt, {
    signal,
    isFinal: (thrown) => thrown instanceof SessionLostError,
    givenUp: (reason, last) => {
      const tried = last === undefined ? '' : `; the last attempt: ${last.message}`;
      return new SessionLostError(`${reason.message}${tried}`, last ?? reason);
    },
  });
}
