// A process of exec.start: its output on the way to the client, its limits, its end.

import { constants } from 'node:os';
import { deadline, TimeoutError, withSignal } from '../../base/deadline.js';
import { Resource } from '../../base/resource.js';
import type { HostProcess } from '../../host/process/host-process.js';
import { InputClosedError } from '../../host/process/input-pipe.js';
import { spawnProcess } from '../../host/process/spawn.js';
import { MAX_SPOOL_BYTES, OutputSpool } from '../../host/process/spool.js';
import { signalTree, stopTree } from '../../host/process/stop-tree.js';
import { describeExit, type ExitState } from './exit-state.js';
import { OutputBudget } from './output-budget.js';
import { OutputFramer } from './output-frame.js';
import { type EventSink, OutputStream } from './output-stream.js';
import type { ProcessState, SessionProcess, StreamName } from './session-process.js';

const { SIGTERM, SIGKILL } = constants.signals;

export interface ExecRequest {
  readonly id: string;
  readonly sessionId: string;
  readonly argv: readonly string[];
  /** For chdir; the name people know it by is `shownCwd`. */
  readonly cwd: string;
  readonly shownCwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: Uint8Array | undefined;
  /** Goes on taking input after `stdin`. */
  readonly stdinOpen: boolean;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  /** The mark of the session: whatever is started below it can be found again. */
  readonly scope: string;
  readonly spoolDir: string;
  readonly sink: EventSink;
}

export class ExecProcess extends Resource implements SessionProcess {
  readonly id: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt = new Date();
  readonly detached = false;
  readonly pty = false;
  /** Resolves with how it ended, after its last event was handed over. */
  readonly ended: Promise<ExitState>;
  readonly #host: HostProcess;
  readonly #request: ExecRequest;
  readonly #budget: OutputBudget;
  readonly #spools: Readonly<Record<StreamName, OutputSpool>>;
  readonly #streams: Readonly<Record<StreamName, OutputStream>>;
  #timedOut = false;
  #forgotten = false;
  #exit: ExitState | undefined;
  #durationMs: number | undefined;
  #begin: () => void = () => {};

  /** Rejects with LaunchError. Nothing is sent before `begin`. */
  static async start(request: ExecRequest): Promise<ExecProcess> {
    const host = await spawnProcess({
      argv: request.argv,
      cwd: request.cwd,
      env: request.env,
      stdin: request.stdinOpen ? 'pipe' : (request.stdin ?? 'none'),
      scope: request.scope,
    });
    const process = new ExecProcess(host, request);
    // A program that ends without reading is told of by its exit, not by this write.
    if (request.stdinOpen && request.stdin !== undefined) host.stdin?.write(request.stdin).catch(() => {});
    return process;
  }

  private constructor(host: HostProcess, request: ExecRequest) {
    super();
    this.id = request.id;
    this.argv = request.argv;
    this.cwd = request.shownCwd;
    this.#host = host;
    this.#request = request;
    this.#budget = new OutputBudget(request.maxOutputBytes, () => this.#stopForOutput());
    const maxBytes = Math.min(request.maxOutputBytes, MAX_SPOOL_BYTES);
    const spool = (): OutputSpool => new OutputSpool({ dir: request.spoolDir, maxBytes });
    this.#spools = { stdout: spool(), stderr: spool() };
    this.#streams = { stdout: this.#stream('stdout'), stderr: this.#stream('stderr') };
    const begun = new Promise<void>((resolve) => {
      this.#begin = resolve;
    });
    this.ended = this.#run(begun);
  }

  get pid(): number {
    return this.#host.pid;
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  get outputLimitExceeded(): boolean {
    return this.#budget.exceeded;
  }

  get exit(): ExitState | undefined {
    return this.#exit;
  }

  get durationMs(): number {
    return this.#durationMs ?? Date.now() - this.startedAt.getTime();
  }

  state(): ProcessState {
    return {
      status: this.#exit?.status ?? 'running',
      exit_code: this.#exit?.exitCode ?? null,
      signal: this.#exit?.signal ?? null,
      bytes_stdout: this.#streams.stdout.bytes,
      bytes_stderr: this.#streams.stderr.bytes,
    };
  }

  bytes(stream: StreamName): number {
    return this.#spools[stream].kept;
  }

  /** From here on output flows and the clock runs. Called when the client has been told the process's id. */
  begin(): void {
    this.#begin();
  }

  /** How it ended, or undefined when the time is up first. */
  async wait(timeoutMs: number, caller: AbortSignal): Promise<ExitState | undefined> {
    if (this.#exit !== undefined) return this.#exit;
    using limit = deadline(timeoutMs, { also: [caller] });
    try {
      return await withSignal(this.ended, limit.signal);
    } catch (thrown) {
      if (thrown instanceof TimeoutError) return undefined;
      throw thrown;
    }
  }

  /** False when it has ended already, with all it started. TERM and KILL end the whole tree; any other signal is only delivered to it. */
  kill(signal: number): boolean {
    // It may have left others behind: whoever calls a command off means all of it.
    if (!this.#host.running && signalTree(this.#host.mark, 0) === 0) return false;
    if (signal === SIGTERM) this.#stop();
    else if (signal === SIGKILL) this.#stop(0);
    else signalTree(this.#host.mark, signal);
    return true;
  }

  /** Rejects with InputClosedError when nobody reads, with the signal's reason when nobody reads in time. */
  async input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void> {
    const { stdin } = this.#host;
    if (stdin === undefined) throw new InputClosedError();
    if (bytes.length > 0) await withSignal(stdin.write(bytes), signal);
    if (eof) await withSignal(stdin.end(), signal);
  }

  async read(stream: StreamName, offset: number, length: number): Promise<Buffer> {
    return await this.#spools[stream].read(offset, length);
  }

  /** For one that has ended: what it may have left running goes on until its session ends. */
  async forget(): Promise<void> {
    this.#forgotten = true;
    await this.close();
  }

  protected override async release(): Promise<void> {
    this.#begin();
    try {
      // By the mark of the session: all of its processes share one sweep, and it finds what forgotten ones have left.
      if (!this.#forgotten) await stopTree(this.#request.scope);
    } finally {
      for (const pipe of [this.#host.stdin, this.#host.stdout, this.#host.stderr]) pipe?.destroy();
    }
    await this.ended;
    await Promise.all([this.#spools.stdout.close(), this.#spools.stderr.close()]);
  }

  async #run(begun: Promise<void>): Promise<ExitState> {
    await begun;
    const timer = setTimeout(() => this.#stopForTime(), this.#request.timeoutMs);
    // Not when its output has been taken: a client that reads slowly does not make a command late.
    void this.#host.leaderExit.then(() => clearTimeout(timer));
    await Promise.all([this.#streams.stdout.run(), this.#streams.stderr.run()]);
    const report = await this.#host.exited;
    this.#durationMs = Math.round(report.durationMs);
    this.#exit = describeExit(report, this.#timedOut);
    await this.#request.sink(this.#exitEvent(this.#exit));
    return this.#exit;
  }

  #stream(name: StreamName): OutputStream {
    const source = this.#host[name];
    if (source === undefined) throw new TypeError(`the process has no ${name}`);
    const ids = { session_id: this.#request.sessionId, process_id: this.id };
    return new OutputStream({
      source,
      budget: this.#budget,
      framer: new OutputFramer(`exec.${name}`, ids),
      spool: this.#spools[name],
      sink: this.#request.sink,
    });
  }

  #stopForTime(): void {
    this.#timedOut = true;
    this.#stop();
  }

  #stopForOutput(): void {
    this.#host.stdout?.discard();
    this.#host.stderr?.discard();
    this.#stop(0);
  }

  #stop(graceMs?: number): void {
    // A survivor (another user's process, a broken disk) is the guardian's business; the exit is still reported.
    this.#host.stop(graceMs === undefined ? {} : { graceMs }).catch(() => {});
  }

  #exitEvent(exit: ExitState): Uint8Array {
    return Buffer.from(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'exec.exit',
        params: {
          session_id: this.#request.sessionId,
          process_id: this.id,
          exit_code: exit.exitCode,
          signal: exit.signal,
          timed_out: this.#timedOut,
          duration_ms: this.durationMs,
          bytes_stdout: this.#streams.stdout.bytes,
          bytes_stderr: this.#streams.stderr.bytes,
          output_limit_exceeded: this.#budget.exceeded,
        },
      }),
    );
  }
}
