// The process that heads a tree, whoever has forked it: Node itself, or the launcher.

import type { ChildProcess } from 'node:child_process';

export interface LeaderExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** `SIGTERM`, `SIGRTMIN+2`, …; null when it ended by itself. */
  readonly signal: string | null;
  /** True when nobody could tell us: the one whose child it was has died. Code and signal are guesses then. */
  readonly unknown?: boolean;
}

export interface Leader {
  readonly pid: number;
  /** Once. Called when it has ended and its number may belong to others. */
  onExit(told: (exit: LeaderExit) => void): void;
  /** False when the number may have passed to others although we have not been told of the end yet. */
  isOurs(): boolean;
  unref(): void;
}

export function leaderOfChild(child: ChildProcess): Leader {
  return {
    pid: child.pid as number,
    onExit: (told) => void child.once('exit', (code, signal) => told({ code, signal })),
    isOurs: () => true, // Node reaps it and tells us in one step
    unref: () => child.unref(),
  };
}
