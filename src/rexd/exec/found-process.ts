// A detached process for a session that did not start it: no events, but it can be read, waited for and ended.

import { toError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import type { DetachedEnd, DetachedRun } from '../../host/process/detached-run.js';
import { DetachedWatch } from '../../host/process/detached-watch.js';
import { InputClosedError } from '../../host/process/input-pipe.js';
import { deliverSignal, waitForExit, waitForOutput } from './ask-process.js';
import { describeExit, type ExitState } from './exit-state.js';
import { readKept } from './kept-output.js';
import type { ProcessState, SessionProcess, StreamName } from './session-process.js';

export class FoundProcess extends Resource implements SessionProcess {
  readonly id: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt: Date;
  readonly detached = true;
  readonly pty = false;
  readonly #run: DetachedRun;
  #stopping: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(run: DetachedRun) {
    super();
    this.#run = run;
    this.id = run.entry.id;
    this.argv = run.entry.argv;
    this.cwd = run.entry.cwd;
    this.startedAt = new Date(run.entry.startedAtMs);
  }

  get pid(): number {
    return this.#run.pid ?? 0;
  }

  /** Something that was begun with it is not finished yet. */
  get busy(): boolean {
    return this.#waiting > 0;
  }

  get running(): boolean {
    return this.#run.end() === undefined;
  }

  get timedOut(): boolean {
    return this.#run.end()?.timedOut === true;
  }

  get outputLimitExceeded(): boolean {
    return this.#run.exceeded;
  }

  get durationMs(): number {
    return Math.max(0, (this.#run.end()?.endedAtMs ?? Date.now()) - this.startedAt.getTime());
  }

  get exit(): ExitState | undefined {
    const end = this.#run.end();
    return end === undefined ? undefined : describe(end);
  }

  get ended(): Promise<ExitState> {
    return this.#waitForEnd();
  }

  state(): ProcessState {
    const { exit } = this;
    return {
      status: exit?.status ?? 'running',
      exit_code: exit?.exitCode ?? null,
      signal: exit?.signal ?? null,
      bytes_stdout: this.bytes('stdout'),
      bytes_stderr: this.bytes('stderr'),
    };
  }

  bytes(stream: StreamName): number {
    return this.#run.size(stream);
  }

  async read(stream: StreamName, offset: number, length: number): Promise<Buffer> {
    return await readKept(this.#run, stream, offset, length);
  }

  async waitForOutput(stream: StreamName, offset: number, signal: AbortSignal): Promise<void> {
    await using watch = new DetachedWatch(this.#run);
    this.#waiting += 1;
    try {
      const isThere = (): boolean => this.bytes(stream) > offset || !this.running || this.closing;
      await waitForOutput(isThere, () => watch.next(), signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async wait(timeoutMs: number, caller: AbortSignal): Promise<ExitState | undefined> {
    await using watch = new DetachedWatch(this.#run);
    this.#waiting += 1;
    try {
      const ended = watch.ended().then(describe);
      return await waitForExit(ended, { timeoutMs, caller, gone: this.signal });
    } finally {
      this.#waiting -= 1;
    }
  }

  kill(signal: number): boolean {
    const send = (number: number): number => this.#run.send(number);
    return deliverSignal({ leaderRuns: this.running, send, stop: (graceMs) => this.#stop(graceMs) }, signal);
  }

  /** Its input was the business of the session that started it, and ended with it. */
  input(): Promise<void> {
    return Promise.reject(new InputClosedError());
  }

  /** It goes on; but whoever has called it off is not left with half of it. */
  protected override async release(): Promise<void> {
    await this.#stopping;
  }

  async #waitForEnd(): Promise<ExitState> {
    await using watch = new DetachedWatch(this.#run);
    return describe(await watch.ended());
  }

  #stop(graceMs?: number): void {
    this.#waiting += 1;
    this.#stopping = this.#run
      .stop(graceMs === undefined ? {} : { graceMs })
      .catch(toError)
      .finally(() => {
        this.#waiting -= 1;
      });
  }
}

function describe(end: DetachedEnd): ExitState {
  return describeExit(end, end.timedOut);
}
