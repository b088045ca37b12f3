// How a process ended, in REXD's words.

import { constants } from 'node:os';
import type { LeaderExit } from '../../host/process/host-process.js';

export interface ExitState {
  readonly status: 'exited' | 'killed' | 'timed_out';
  /** Never 0 for a process that was killed: clients take a missing code for success. */
  readonly exitCode: number;
  readonly signal: string | null;
}

/** As shells count: 128 and the number of the signal. */
const SIGNAL_BASE = 128;

export function describeExit(exit: LeaderExit, timedOut: boolean): ExitState {
  const { code, signal } = exit;
  if (signal === null) return { status: timedOut ? 'timed_out' : 'exited', exitCode: code ?? 1, signal };
  return {
    status: timedOut ? 'timed_out' : 'killed',
    exitCode: SIGNAL_BASE + constants.signals[signal],
    signal,
  };
}

/** A sandbox tells the death of the program in it as shells do, by a code of its own. */
export function readSandboxExit<T extends LeaderExit>(exit: T): T {
  const number = (exit.code ?? 0) - SIGNAL_BASE;
  const signal = SIGNALS.find((name) => constants.signals[name] === number);
  return signal === undefined ? exit : { ...exit, code: null, signal };
}

const SIGNALS = Object.keys(constants.signals) as NodeJS.Signals[];
