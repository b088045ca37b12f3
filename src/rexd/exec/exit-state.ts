// How a process ended, in REXD's words.

import type { LeaderExit } from '../../host/process/leader.js';
import { parseSignal, SIGNAL_BASE, signalOfStatus } from '../../host/process/signals.js';

export interface ExitState {
  readonly status: 'exited' | 'killed' | 'timed_out';
  /** Never 0 for a process that was killed: clients take a missing code for success. */
  readonly exitCode: number;
  readonly signal: string | null;
  /** True when nobody could tell; then the code says no more than that. */
  readonly unknown?: true;
}

/** Of a process whose end was seen by nobody who could ask how: no success, and no code that a shell gives a meaning. */
export const UNKNOWN_EXIT_CODE = 255;

export function describeExit(exit: LeaderExit, timedOut: boolean): ExitState {
  const { code, signal } = exit;
  const status = timedOut ? 'timed_out' : 'exited';
  if (exit.unknown === true) return { status, exitCode: UNKNOWN_EXIT_CODE, signal: null, unknown: true };
  if (signal === null) return { status, exitCode: code ?? 1, signal };
  return {
    status: timedOut ? 'timed_out' : 'killed',
    exitCode: SIGNAL_BASE + (parseSignal(signal) ?? 0),
    signal,
  };
}

/** A sandbox tells the death of the program in it as shells do, by a code of its own. */
export function readSandboxExit<T extends LeaderExit>(exit: T): T {
  const signal = signalOfStatus(exit.code ?? 0);
  return signal === undefined ? exit : { ...exit, code: null, signal };
}
