// What a handler is given beside its params.

import type { Log } from '../base/log.js';
import type { LimitSet } from '../guard/limits.js';
import type { RexdLimit } from './limits.js';
import type { Roots } from '../guard/roots.js';
import type { Sessions } from './sessions.js';

/** What holds for every connection. */
export interface ServerFacts {
  readonly roots: Roots;
  readonly limits: LimitSet<RexdLimit>;
  readonly reportVersion: string;
  readonly capabilities: readonly string[];
}

export interface CallContext {
  /** Aborts when the client calls the request off or goes away. */
  readonly signal: AbortSignal;
  readonly server: ServerFacts;
  readonly sessions: Sessions;
  readonly log: Log;
}
