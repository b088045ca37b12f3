// A detached process for a session that did not start it: no events, but it can be read, waited for and ended.

import { constants } from 'node:os';
import { deadline, TimeoutError, withSignal } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import type { DetachedEnd, DetachedRun } from '../../host/process/detached-run.js';
import { DetachedWatch } from '../../host/process/detached-watch.js';
import { InputClosedError } from '../../host/process/input-pipe.js';
import { describeExit, type ExitState } from './exit-state.js';
import type { ProcessState, SessionProcess, StreamName } from './session-process.js';

const { SIGTERM, SIGKILL } = constants.signals;

export class FoundProcess extends Resource implements SessionProcess {
  readonly id: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt: Date;
  readonly detached = true;
  readonly pty = false;
  readonly #run: DetachedRun;
  #stopping: Promise<unknown> = Promise.resolve();

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
    return await this.#run.read(stream, offset, length);
  }

  async wait(timeoutMs: number, caller: AbortSignal): Promise<ExitState | undefined> {
    await using watch = new DetachedWatch(this.#run);
    using limit = deadline(timeoutMs, { also: [caller, this.signal] });
    try {
      return describe(await withSignal(watch.ended(), limit.signal));
    } catch (thrown) {
      if (thrown instanceof TimeoutError) return undefined;
      throw thrown;
    }
  }

  kill(signal: number): boolean {
    if (!this.running && this.#run.send(0) === 0) return false;
    if (signal === SIGTERM) this.#stop();
    else if (signal === SIGKILL) this.#stop(0);
    else this.#run.send(signal);
    return true;
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
    this.#stopping = this.#run.stop(graceMs === undefined ? {} : { graceMs }).catch(toError);
  }
}

function describe(end: DetachedEnd): ExitState {
  return describeExit(end, end.timedOut);
}
