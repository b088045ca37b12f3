// What is said between `rex` and a keeper before the connection is the caller's: one line each way.

import type { SessionFacts } from '../../../client/rex/rex-client.js';
import type { FailureReason } from '../../../client/rex/explain-failure.js';

export type Hello =
  | { readonly want: 'link'; readonly key: string }
  | { readonly want: 'stop' }
  | { readonly want: 'status' };

export type Reply =
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
