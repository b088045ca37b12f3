// Several signals as one, that lets go of them again.

import { newAbort } from '../../base/abort.js';

/**
 * Aborts with the first of them. Not AbortSignal.any: on signals that live as long as the daemon it would leave
 * something behind with every call.
 */
export function joinSignals(signals: readonly AbortSignal[]): Disposable & { readonly signal: AbortSignal } {
  const joined = newAbort();
  const follow = (event: Event): void => joined.abort((event.target as AbortSignal).reason);
  for (const signal of signals) {
    if (signal.aborted) joined.abort(signal.reason);
    else signal.addEventListener('abort', follow, { once: true });
  }
  return {
    signal: joined.signal,
    [Symbol.dispose]: () => {
      for (const signal of signals) signal.removeEventListener('abort', follow);
    },
  };
}
