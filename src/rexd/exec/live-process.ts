// What every process of a session does, with a terminal or without: it begins, it may run out of time, it ends once.

import { Resource } from '../../base/resource.js';
import type { LeaderExit } from '../../host/process/leader.js';
import { signalTree, stopTree } from '../../host/process/stop-tree.js';
import { deliverSignal, waitForExit } from './ask-process.js';
import { describeExit, type ExitState, readSandboxExit } from './exit-state.js';
import type { EventSink } from './output-stream.js';
import type { ProcessState, SessionProcess, StreamName } from './session-process.js';

export interface LiveFacts {
  readonly id: string;
  readonly argv: readonly string[];
  /** What is really started, when `argv` runs in a sandbox. */
  readonly sandboxed?: readonly string[] | undefined;
  /** As people know it. */
  readonly shownCwd: string;
  /** Undefined: as long as it likes. */
  readonly timeoutMs: number | undefined;
  readonly sink: EventSink;
}

export interface ExitEvent {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The last event of a command, whoever watched over it. */
export function execExitEvent(
  ids: { readonly session_id: string; readonly process_id: string },
  exit: ExitState,
  process: Pick<LiveProcess, 'timedOut' | 'durationMs' | 'outputLimitExceeded'>,
  streams: Readonly<Record<'stdout' | 'stderr', { readonly bytes: number }>>,
): ExitEvent {
  return {
    method: 'exec.exit',
    params: {
      ...ids,
      exit_code: exit.exitCode,
      signal: exit.signal,
      timed_out: process.timedOut,
      duration_ms: process.durationMs,
      bytes_stdout: streams.stdout.bytes,
      bytes_stderr: streams.stderr.bytes,
      output_limit_exceeded: process.outputLimitExceeded,
      ...(exit.unknown === true && { exit_code_unknown: true }),
    },
  };
}

export abstract class LiveProcess extends Resource implements SessionProcess {
  readonly id: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt = new Date();
  readonly detached: boolean = false;
  abstract readonly pty: boolean;
  abstract readonly pid: number;
  abstract readonly outputLimitExceeded: boolean;
  /** Resolves with how it ended, after its last event was handed over. */
  readonly ended: Promise<ExitState>;
  /** What finds it and all that descends from it. */
  protected abstract readonly mark: string;
  /** The program itself; its output may still be under way. */
  protected abstract readonly leaderRuns: boolean;
  protected abstract readonly leaderExit: Promise<LeaderExit>;
  readonly #startedMs = performance.now();
  #timedOut = false;
  #exit: ExitState | undefined;
  #durationMs: number | undefined;
  #begin: () => void = () => {};
  #begun = false;

  protected constructor(facts: LiveFacts) {
    super();
    this.id = facts.id;
    this.argv = facts.argv;
    this.cwd = facts.shownCwd;
    const begun = new Promise<void>((resolve) => {
      this.#begin = resolve;
    });
    // A moment later, when the whole of it is made.
    const leader = Promise.resolve().then(() => this.#watchClock(facts));
    this.ended = begun.then(() => this.#run(facts.sink, leader));
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  get exit(): ExitState | undefined {
    return this.#exit;
  }

  get durationMs(): number {
    return this.#durationMs ?? this.#ageMs();
  }

  /** From here on output flows. Called when the client has been told the process's id. */
  begin(): void {
    this.#begun = true;
    this.#begin();
  }

  /** Whether the client knows of it. Until then nothing is sent, and nobody should wait for `ended`. */
  protected get begun(): boolean {
    return this.#begun;
  }

  /** How it ended, or undefined when the time is up first. */
  async wait(timeoutMs: number, caller: AbortSignal): Promise<ExitState | undefined> {
    if (this.#exit !== undefined) return this.#exit;
    return await waitForExit(this.ended, { timeoutMs, caller, gone: this.signal });
  }

  /** False when it has ended already, with all it started. TERM and KILL end the whole tree; any other signal is only delivered to it. */
  kill(signal: number): boolean {
    const { leaderRuns } = this;
    const stop = (graceMs?: number): void => this.stop(graceMs);
    return deliverSignal({ leaderRuns, send: (number) => this.send(number), stop }, signal);
  }

  abstract bytes(stream: StreamName): number;
  abstract read(stream: StreamName, offset: number, length: number): Promise<Buffer>;
  abstract waitForOutput(stream: StreamName, offset: number, signal: AbortSignal): Promise<void>;
  abstract input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void>;
  abstract state(): ProcessState;

  /** Gives the number of processes that were sent it. */
  protected send(signal: number): number {
    return signalTree(this.mark, signal);
  }

  protected stop(graceMs?: number): void {
    // A survivor (another user's process, a broken disk) is the guardian's business; the exit is still reported.
    stopTree(this.mark, graceMs === undefined ? {} : { graceMs }).catch(() => {});
  }

  /** Resolves when all of the output has been handed over. */
  protected abstract deliverOutput(): Promise<void>;
  /** Its time is up. */
  protected stopForTime(): void {
    this.stop();
  }

  /** Somebody else's clock has ended it. */
  protected noteTimeout(): void {
    this.#timedOut = true;
  }

  protected abstract exitEvent(exit: ExitState): ExitEvent;

  protected endState(): Pick<ProcessState, 'status' | 'exit_code' | 'signal' | 'exit_code_unknown'> {
    return {
      status: this.#exit?.status ?? 'running',
      exit_code: this.#exit?.exitCode ?? null,
      signal: this.#exit?.signal ?? null,
      ...(this.#exit?.unknown === true && { exit_code_unknown: true }),
    };
  }

  /**
   * From the start, also when the answer has to wait for others of its batch. Until the program has ended, not until its
   * output has been taken: a client that reads slowly does not make a command late.
   */
  async #watchClock({ timeoutMs, sandboxed }: LiveFacts): Promise<LeaderExit> {
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#runOutOfTime(), timeoutMs);
    const exit = await this.leaderExit;
    clearTimeout(timer);
    this.#durationMs = this.#ageMs();
    return sandboxed === undefined ? exit : readSandboxExit(exit);
  }

  async #run(sink: EventSink, leader: Promise<LeaderExit>): Promise<ExitState> {
    await this.deliverOutput();
    this.#exit = describeExit(await leader, this.#timedOut);
    await sink(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', ...this.exitEvent(this.#exit) })}\n`));
    return this.#exit;
  }

  #runOutOfTime(): void {
    this.#timedOut = true;
    this.stopForTime();
  }

  #ageMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }
}
