// A process of exec.start: its output on the way to the client, its limits, its end.

import { withSignal } from '../../base/deadline.js';
import { ClosedError } from '../../base/resource.js';
import { settleAll } from '../../base/settle-all.js';
import type { HostProcess } from '../../host/process/host-process.js';
import { InputClosedError } from '../../host/process/input-pipe.js';
import type { LeaderExit } from '../../host/process/leader.js';
import { spawnProcess } from '../../host/process/spawn.js';
import { MAX_SPOOL_BYTES, OutputSpool } from '../../host/process/spool.js';
import { stopTree } from '../../host/process/stop-tree.js';
import { waitForOutput } from './ask-process.js';
import type { ExitState } from './exit-state.js';
import { type ExitEvent, LiveProcess, execExitEvent } from './live-process.js';
import { OutputBudget } from './output-budget.js';
import { OutputFramer } from './output-frame.js';
import { type EventSink, OutputStream } from './output-stream.js';
import type { ProcessState, StreamName } from './session-process.js';

export interface ExecRequest {
  readonly id: string;
  readonly sessionId: string;
  readonly argv: readonly string[];
  /** What is really started, when `argv` runs in a sandbox. */
  readonly sandboxed?: readonly string[] | undefined;
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

/** One for all: in a session that runs many commands one is forgotten at every start, and a stack trace is not cheap. */
const FORGOTTEN = new ClosedError('process');

export class ExecProcess extends LiveProcess {
  readonly pty = false;
  readonly #host: HostProcess;
  readonly #scope: string;
  readonly #ids: { readonly session_id: string; readonly process_id: string };
  readonly #budget: OutputBudget;
  readonly #spools: Readonly<Record<StreamName, OutputSpool>>;
  readonly #streams: Readonly<Record<StreamName, OutputStream>>;
  #forgotten = false;

  /** Rejects with LaunchError. Nothing is sent before `begin`. */
  static async start(request: ExecRequest): Promise<ExecProcess> {
    const host = await spawnProcess({
      argv: request.sandboxed ?? request.argv,
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
    super(request);
    this.#host = host;
    this.#scope = request.scope;
    this.#ids = { session_id: request.sessionId, process_id: request.id };
    this.#budget = new OutputBudget(request.maxOutputBytes, () => this.#stopForOutput());
    const maxBytes = Math.min(request.maxOutputBytes, MAX_SPOOL_BYTES);
    const spool = (): OutputSpool => new OutputSpool({ dir: request.spoolDir, maxBytes });
    this.#spools = { stdout: spool(), stderr: spool() };
    this.#streams = { stdout: this.#stream('stdout', request), stderr: this.#stream('stderr', request) };
  }

  get pid(): number {
    return this.#host.pid;
  }

  get outputLimitExceeded(): boolean {
    return this.#budget.exceeded;
  }

  state(): ProcessState {
    return {
      ...this.endState(),
      bytes_stdout: this.#streams.stdout.bytes,
      bytes_stderr: this.#streams.stderr.bytes,
    };
  }

  bytes(stream: StreamName): number {
    return this.#spools[stream].kept;
  }

  /** Rejects with InputClosedError when nobody reads, with the signal's reason when nobody reads in time. */
  async input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void> {
    const { stdin } = this.#host;
    if (stdin === undefined) throw new InputClosedError();
    if (eof) await withSignal(stdin.writeLast(bytes), signal);
    else if (bytes.length > 0) await withSignal(stdin.write(bytes), signal);
  }

  async read(stream: StreamName, offset: number, length: number): Promise<Buffer> {
    return await this.#spools[stream].read(offset, length);
  }

  async waitForOutput(stream: StreamName, offset: number, signal: AbortSignal): Promise<void> {
    const output = this.#streams[stream];
    const isThere = (): boolean => this.bytes(stream) > offset || !this.running || this.closing;
    await waitForOutput(isThere, () => (output.over ? this.ended : output.grown()), signal);
  }

  /** For one that has ended: what it may have left running goes on until its session ends. */
  async forget(): Promise<void> {
    this.#forgotten = true;
    await this.close(FORGOTTEN);
  }

  protected override async release(reason: Error): Promise<void> {
    try {
      // By the mark of the session: all of its processes share one sweep.
      if (!this.#forgotten) await stopTree(this.#scope);
    } finally {
      this.#host.letGo();
      // One that cannot be killed is not waited for.
      if (this.begun && !this.#host.running) await this.ended;
      await settleAll([this.#spools.stdout.close(reason), this.#spools.stderr.close(reason)]);
    }
  }

  protected override get mark(): string {
    return this.#host.mark;
  }

  protected override get leaderRuns(): boolean {
    return this.#host.running;
  }

  protected override get leaderExit(): Promise<LeaderExit> {
    return this.#host.leaderExit;
  }

  protected override async deliverOutput(): Promise<void> {
    await Promise.all([this.#streams.stdout.run(), this.#streams.stderr.run()]);
    await this.#host.exited;
  }

  protected override exitEvent(exit: ExitState): ExitEvent {
    return execExitEvent(this.#ids, exit, this, this.#streams);
  }

  #stream(name: StreamName, { sink }: ExecRequest): OutputStream {
    const source = this.#host[name];
    if (source === undefined) throw new TypeError(`the process has no ${name}`);
    return new OutputStream({
      source,
      budget: this.#budget,
      framer: new OutputFramer(`exec.${name}`, this.#ids),
      spool: this.#spools[name],
      sink,
    });
  }

  #stopForOutput(): void {
    this.#host.stdout?.discard();
    this.#host.stderr?.discard();
    this.stop(0);
  }
}
