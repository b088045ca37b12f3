// A connection that is lost while something runs at its other end.

import { LocalError } from '../../base/errors.js';

/** Whether it is that, and no refusal, which failed. */
export function isLost(thrown: unknown): boolean {
  return thrown instanceof LocalError && LOSSES.has(thrown.code);
}

const LOSSES = new Set(['closed', 'connection_lost', 'session_lost']);

/** For people: what is known of the command that ran there. */
export function sayLost(alias: string): string {
  return `the connection to "${alias}" was lost before the command had ended; what it was doing there is ended too`;
}
