// A process of a session as exec.* see it: with a terminal or without, all of them are asked the same questions.

import type { ExitState } from './exit-state.js';

/** What a terminal shows counts as stdout. */
export type StreamName = 'stdout' | 'stderr';

/** In the words of the protocol. */
export interface ProcessState {
  readonly status: 'running' | ExitState['status'];
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly bytes_stdout: number;
  readonly bytes_stderr: number;
  /** Of a program on a terminal, where it can be known: whether it waits for something to be typed. */
  readonly waiting_for_input?: boolean;
  /** True when nobody could tell how it ended. */
  readonly exit_code_unknown?: boolean;
}

export interface SessionProcess extends AsyncDisposable {
  readonly id: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly detached: boolean;
  readonly pty: boolean;
  readonly running: boolean;
  readonly timedOut: boolean;
  readonly outputLimitExceeded: boolean;
  readonly durationMs: number;
  readonly exit: ExitState | undefined;
  /** Resolves after its last event was handed over. */
  readonly ended: Promise<ExitState>;
  state(): ProcessState;
  /** Bytes that `read` can give by now. */
  bytes(stream: StreamName): number;
  read(stream: StreamName, offset: number, length: number): Promise<Buffer>;
  /** Resolves when there is output from `offset` on, when it has ended, or when `signal` aborts. */
  waitForOutput(stream: StreamName, offset: number, signal: AbortSignal): Promise<void>;
  /** How it ended, or undefined when the time is up first. */
  wait(timeoutMs: number, caller: AbortSignal): Promise<ExitState | undefined>;
  /** False when it has ended already. TERM and KILL end the whole tree; any other signal is only delivered to it. */
  kill(signal: number): boolean;
  input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void>;
  /** Ends it, with all that it has left running. */
  close(): Promise<void>;
  /** Something that was begun with it is not finished yet. */
  readonly busy?: boolean;
  /** Ends it whatever it was started for, and keeps nothing; `close` does it where this is absent. */
  discard?(): Promise<void>;
  /** Gives back what is kept of one that has ended; `close` does it where this is absent. */
  forget?(): Promise<void>;
}
