// What every process is asked, whoever started it: to wait for its end, and to take a signal.

import { constants } from 'node:os';
import { deadline, TimeoutError, withSignal } from '../../base/deadline.js';
import type { ExitState } from './exit-state.js';

const { SIGTERM, SIGKILL } = constants.signals;

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly caller: AbortSignal;
  /** Nobody here will learn of the end any more, although it may be far. */
  readonly gone: AbortSignal;
}

/** How it ended, or undefined when the time is up first, or the session. */
export async function waitForExit(
  ended: Promise<ExitState>,
  { timeoutMs, caller, gone }: WaitOptions,
): Promise<ExitState | undefined> {
  using limit = deadline(timeoutMs, { also: [caller, gone] });
  try {
    return await withSignal(ended, limit.signal);
  } catch (thrown) {
    if (thrown instanceof TimeoutError || (gone.aborted && !caller.aborted)) return undefined;
    throw thrown;
  }
}

/** `next` resolves at every change; it is asked before each look, so that none is missed. */
export async function waitForOutput(
  isThere: () => boolean,
  next: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  for (let changed = next(); !isThere() && !signal.aborted; changed = next())
    await withSignal(changed, signal).catch(() => {});
}

export interface Target {
  readonly leaderRuns: boolean;
  /** Gives the number of processes that were sent it. */
  readonly send: (signal: number) => number;
  readonly stop: (graceMs?: number) => void;
}

/** False when it has ended already, with all it started. TERM and KILL end the whole tree; any other signal is only delivered. */
export function deliverSignal({ leaderRuns, send, stop }: Target, signal: number): boolean {
  // It may have left others behind: whoever calls a command off means all of it.
  if (!leaderRuns && send(0) === 0) return false;
  if (signal === SIGTERM) stop();
  else if (signal === SIGKILL) stop(0);
  else send(signal);
  return true;
}
