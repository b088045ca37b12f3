// What a handler is given beside its params.

import type { Log } from '../base/log.js';
import type { LimitSet } from '../guard/limits.js';
import type { Roots } from '../guard/roots.js';
import type { Sandbox } from '../guard/sandbox.js';
import type { PolicySource } from './command-rules.js';
import type { Compression } from './compression.js';
import type { RexdLimit } from './limits.js';
import type { LongAnswers } from './long-answers.js';
import type { Session, Sessions } from './sessions.js';

/** What holds for every connection. */
export interface ServerFacts {
  readonly roots: Roots;
  readonly limits: LimitSet<RexdLimit>;
  readonly reportVersion: string;
  readonly capabilities: readonly string[];
  readonly policy: PolicySource;
  /** What commands run in; absent when they run as the server itself does. */
  readonly sandbox?: Sandbox;
  /** Of the server itself; commands are given a part of it. */
  readonly environment: NodeJS.ProcessEnv;
  /** Names of variables that commands are given beside the usual ones. */
  readonly passedVariables: readonly string[];
  /** Where detached processes are known by, and their output: one folder for all servers of a user. */
  readonly stateDir: string;
  readonly allowDetach: boolean;
  /** Why nothing can be detached although it is allowed. What is in the folder is not believed then. */
  readonly detachProblem?: string;
  /** Absent when sessions end with their connections. */
  readonly resume?: ResumeFacts;
}

export interface ResumeFacts {
  /** How long a session waits for its client after the connection was lost. */
  readonly windowMs: number;
  /** Makes the session to be found by another server, where one may be asked for it. Rejects when that cannot be done. */
  readonly announce?: (session: Session) => Promise<void>;
}

export interface CallContext {
  /** Aborts when the client calls the request off or goes away. */
  readonly signal: AbortSignal;
  readonly server: ServerFacts;
  readonly sessions: Sessions;
  readonly log: Log;
  /** For reads, whose answers may be long. */
  readonly reads: LongAnswers;
  /** For what walks a tree: slow, and perhaps long. */
  readonly walks: LongAnswers;
  /** Of the connection; absent where calls come without one. */
  readonly compression?: Compression | undefined;
  /** Runs once the answer of this call is on its way. */
  readonly afterReply: (then: () => void) => void;
}
