// What is said between `rex` and a keeper before the connection is the caller's: one line each way.

import type { SessionFacts } from '../../../client/rex/rex-client.js';
import type { PlainHello } from './plain-words.js';
import type { FailureReason } from '../../../client/rex/explain-failure.js';

/** A keeper says at once that it has heard. One that does not is stopped or stuck, and done without. */
export const HEARD_MS = 1500;
/** What it hears later than this it does not do: whoever asked is about to give up, and to do it in another way. */
export const STILL_WANTED_MS = 1000;
/** When it has heard and has no connection at hand, it makes one; ssh gives up by itself before that. */
export const ANSWER_MS = 30_000;

export type Hello =
  | { readonly want: 'link'; readonly key: string; readonly until: number }
  /** The same, and the request that a call would begin with is sent by the keeper, to spare it a way there and back. */
  | { readonly want: 'run'; readonly key: string; readonly until: number; readonly start: KeptStart }
  | PlainHello
  | { readonly want: 'stop' }
  | { readonly want: 'status' };

/** The id of the request that the keeper has sent. */
export const START_ID = 'start';

export interface KeptStart {
  readonly argv: readonly string[];
  /** Unless given, where the target says. */
  readonly cwd?: string;
  readonly stdin?: string;
}

export type Reply =
  /** It was heard; another line follows when a connection is made. */
  | { readonly wait: true }
  | { readonly session: SessionFacts }
  /** Nothing to give: the caller makes its own connection. */
  | { readonly none: true }
  | { readonly failed: { readonly reason: FailureReason; readonly message: string } }
  | { readonly status: KeeperStatus }
  | { readonly stopping: true };

export interface KeeperStatus {
  readonly alias: string;
  readonly pid: number;
  readonly idle: number;
  readonly used: number;
  readonly idle_ms: number;
}
