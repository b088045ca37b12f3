// A process of exec.start with `detach`, for the session that started it: its events come as those of any other, but
// it goes on when the session ends.

import { setTimeout as delay } from 'node:timers/promises';
import { withSignal } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import type { DetachedRun } from '../../host/process/detached-run.js';
import type { DetachedStore } from '../../host/process/detached-store.js';
import { DetachedWatch } from '../../host/process/detached-watch.js';
import type { HostProcess } from '../../host/process/host-process.js';
import { InputClosedError } from '../../host/process/input-pipe.js';
import type { LeaderExit } from '../../host/process/leader.js';
import { type DetachedStart, startDetached } from '../../host/process/start-detached.js';
import { waitForOutput } from './ask-process.js';
import type { ExecRequest } from './exec-process.js';
import type { ExitState } from './exit-state.js';
import { readKept } from './kept-output.js';
import { type ExitEvent, LiveProcess, execExitEvent } from './live-process.js';
import { OutputBudget } from './output-budget.js';
import { OutputFramer } from './output-frame.js';
import { type EventSink, OutputStream } from './output-stream.js';
import type { ProcessState, StreamName } from './session-process.js';
import type { RequestMark } from './start-once.js';
import { tailSource } from './tail-source.js';

/** Its clock is kept by the shell that stays with it, so none of ours runs. */
export type DetachedRequest = Omit<ExecRequest, 'scope' | 'spoolDir' | 'timeoutMs'> & {
  readonly timeoutMs: number | undefined;
  /** By which a later request for the same finds it. */
  readonly request?: RequestMark | undefined;
  /** What the sandbox reads; see startDetached. */
  readonly handed?: Uint8Array | undefined;
};

/** For whoever has called it off and closes the session at once: how long the word about its end may take. */
const LAST_WORD_MS = 5000;

export class DetachedProcess extends LiveProcess {
  override readonly detached = true;
  readonly pty = false;
  readonly pid: number;
  readonly #request: DetachedRequest;
  readonly #store: DetachedStore;
  /** Whether the client is still told of it. */
  readonly #told: { all: boolean };
  readonly #run: DetachedRun;
  readonly #supervisor: HostProcess;
  readonly #watch: DetachedWatch;
  readonly #budget: OutputBudget;
  readonly #streams: Readonly<Record<StreamName, OutputStream>>;
  #stopping: Promise<unknown> = Promise.resolve();
  #stopped = false;

  /** Rejects with LaunchError, StateFolderError or DetachedFullError. Nothing is sent before `begin`. */
  static async start(store: DetachedStore, request: DetachedRequest): Promise<DetachedProcess> {
    const started = await startDetached(store, {
      ...request,
      launched: request.sandboxed,
      stdin: request.stdinOpen ? 'pipe' : (request.stdin ?? 'none'),
      maxBytes: request.maxOutputBytes,
    });
    if (request.stdinOpen && request.stdin !== undefined)
      started.supervisor.stdin?.write(request.stdin).catch(() => {});
    return new DetachedProcess(started, request, store);
  }

  private constructor(started: DetachedStart, request: DetachedRequest, store: DetachedStore) {
    const told = { all: true };
    const sink: EventSink = (frame) => (told.all ? request.sink(frame) : undefined);
    super({ ...request, sink, timeoutMs: undefined });
    this.pid = started.pid;
    this.#told = told;
    this.#store = store;
    this.#request = { ...request, sink };
    this.#run = started.run;
    this.#supervisor = started.supervisor;
    this.#watch = new DetachedWatch(started.run);
    void this.#supervisor.leaderExit.then(() => this.#watch.look());
    this.#budget = new OutputBudget(request.maxOutputBytes, () => this.#stopForOutput());
    this.#streams = { stdout: this.#stream('stdout'), stderr: this.#stream('stderr') };
    void this.ended.then(() => this.#watch.close());
  }

  get outputLimitExceeded(): boolean {
    return this.#budget.exceeded || this.#run.exceeded;
  }

  state(): ProcessState {
    return { ...this.endState(), bytes_stdout: this.bytes('stdout'), bytes_stderr: this.bytes('stderr') };
  }

  bytes(stream: StreamName): number {
    return this.#run.size(stream);
  }

  async read(stream: StreamName, offset: number, length: number): Promise<Buffer> {
    return await readKept(this.#run, stream, offset, length);
  }

  async waitForOutput(stream: StreamName, offset: number, signal: AbortSignal): Promise<void> {
    const isThere = (): boolean => this.bytes(stream) > offset || !this.running || this.closing;
    const next = (): Promise<unknown> => (this.#watch.end === undefined ? this.#watch.next() : this.ended);
    await waitForOutput(isThere, next, signal);
  }

  async input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void> {
    const { stdin } = this.#supervisor;
    if (stdin === undefined) throw new InputClosedError();
    if (eof) await withSignal(stdin.writeLast(bytes), signal);
    else if (bytes.length > 0) await withSignal(stdin.write(bytes), signal);
  }

  protected override get mark(): string {
    return this.#run.entry.mark;
  }

  protected override get leaderRuns(): boolean {
    return this.#run.end() === undefined;
  }

  protected override get leaderExit(): Promise<LeaderExit> {
    return this.#waitForEnd();
  }

  protected override async deliverOutput(): Promise<void> {
    await Promise.all([this.#streams.stdout.run(), this.#streams.stderr.run()]);
  }

  /** Also to one that has cleared its environment. */
  protected override send(signal: number): number {
    return this.#run.send(signal);
  }

  protected override stop(graceMs?: number): void {
    this.#stopped = true;
    this.#stopping = this.#run.stop(graceMs === undefined ? {} : { graceMs }).catch(toError);
  }

  protected override exitEvent(exit: ExitState): ExitEvent {
    return execExitEvent(
      { session_id: this.#request.sessionId, process_id: this.id },
      exit,
      this,
      this.#streams,
    );
  }

  /** It goes on; but whoever has called it off is not left with half of it. */
  protected override async release(): Promise<void> {
    await this.#stopping;
    if (this.#stopped && this.begun)
      await Promise.race([this.ended, delay(LAST_WORD_MS, undefined, { ref: false })]);
    this.#told.all = false; // whoever has closed the session hears nothing more of it
    await this.#watch.close();
    await this.#supervisor.close();
  }

  /** For one that nobody has been told of: it ends, and nothing is kept. */
  async discard(): Promise<void> {
    this.stop(0);
    await this.close();
    this.#store.remove(this.#run);
  }

  #stopForOutput(): void {
    this.#run.noteExceeded();
    this.stop(0);
  }

  async #waitForEnd(): Promise<LeaderExit> {
    const end = await this.#watch.ended();
    if (end.timedOut) this.noteTimeout();
    return end;
  }

  #stream(name: StreamName): OutputStream {
    return new OutputStream({
      source: tailSource(this.#run, this.#watch, name),
      budget: this.#budget,
      framer: new OutputFramer(`exec.${name}`, { session_id: this.#request.sessionId, process_id: this.id }),
      spool: { append: () => undefined }, // its file is kept anyway
      sink: this.#request.sink,
    });
  }
}
