// The keeper of this machine's rexd, asked before anything else is loaded: it answers meanwhile.

import type { Early } from '../open-client.js';
import { localRexdCommand } from '../local-rexd.js';
import { borrowLink } from './borrow.js';
import { keepIdleMs } from './idle-time.js';
import { keeperSpec } from './spec.js';

/** Undefined when nothing is to be kept; then, and when something is amiss, the usual way finds out and tells. */
export function askEarly(env: NodeJS.ProcessEnv): Early | undefined {
  try {
    if (keepIdleMs(env) === 0) return undefined;
    const spec = keeperSpec(
      { alias: 'local', target: undefined, why: 'it was named' },
      localRexdCommand(env),
      env,
    );
    if (spec === undefined) return undefined;
    const kept = borrowLink(spec);
    kept.catch(() => {}); // told to whoever uses it
    return { spec, kept };
  } catch {
    return undefined;
  }
}
