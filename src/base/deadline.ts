// A deadline is a signal whose reason is already the right error.

import { newAbort } from './abort.js';
import { LocalError } from './errors.js';

export class TimeoutError extends LocalError {
  override readonly name = 'TimeoutError';

  constructor(ms: number) {
    super('timeout', `timed out after ${ms} ms`, { facts: { ms } });
  }
}

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/** Longest delay a Node timer keeps, a little under 25 days; a larger one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * A signal that aborts after `ms`, or as soon as one of `also` does, with that signal's own reason. Dispose it when
 * the work is done: the timer goes, and no listener stays behind on a long-lived signal.
 */
export function deadline(
  ms: number,
  options: { reason?: () => Error; also?: readonly AbortSignal[] } = {},
): Deadline {
  const controller = newAbort();
  const also = options.also ?? [];
  const timer = setTimeout(
    () => controller.abort(options.reason === undefined ? new TimeoutError(ms) : options.reason()),
    Math.min(ms, MAX_TIMER_MS),
  );
  const follow = (event: Event): void => controller.abort((event.target as AbortSignal).reason);
  for (const signal of also) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', follow, { once: true });
  }
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const signal of also) signal.removeEventListener('abort', follow);
    },
  };
}

/**
 * `work`, or the signal's reason as a rejection, whichever comes first. The listener is removed when `work` settles,
 * and `work` losing the race never becomes an unhandled rejection.
 */
export async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true });
    stop = () => signal.removeEventListener('abort', fail);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop?.();
    work.catch(() => {});
  }
}
