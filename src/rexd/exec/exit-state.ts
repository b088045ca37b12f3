// How a process ended, in REXD's words.

import type { LeaderExit } from '../../host/process/leader.js';
import { parseSignal, SIGNAL_BASE, signalOfStatus } from '../../host/process/signals.js';

export interface ExitState {
  readonly status: 'exited' | 'killed' | 'timed_out';
  /** Never 0 for a process that was killed: clients take a missing code for success. */
  readonly exitCode: number;
  readonly signal: string | null;
}

export function describeExit(exit: LeaderExit, timedOut: boolean): ExitState {
  const { code, signal } = exit;
  if (signal === null) return { status: timedOut ? 'timed_out' : 'exited', exitCode: code ?? 1, signal };
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
