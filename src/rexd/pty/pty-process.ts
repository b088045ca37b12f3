// A process of pty.open: what its terminal shows on the way to the client, what is typed, its end.

import { constants } from 'node:os';
import { deadline, TimeoutError, withSignal } from '../../base/deadline.js';
import { newId } from '../../base/ids.js';
import { Resource } from '../../base/resource.js';
import { MAX_SPOOL_BYTES, OutputSpool } from '../../host/process/spool.js';
import { signalTree, stopTree, SurvivorsError } from '../../host/process/stop-tree.js';
import { openPty } from '../../host/pty/open-pty.js';
import type { Pty } from '../../host/pty/pty.js';
import type { TerminalSize } from '../../host/pty/terminal-size.js';
import { describeExit, type ExitState } from '../exec/exit-state.js';
import { OutputBudget } from '../exec/output-budget.js';
import { OutputFramer } from '../exec/output-frame.js';
import { type EventSink, OutputStream } from '../exec/output-stream.js';
import type { ProcessState, SessionProcess, StreamName } from '../exec/session-process.js';
import { terminalSource } from './terminal-source.js';

const { SIGTERM, SIGKILL } = constants.signals;
/** Ctrl-D: how a terminal is told that no more will be typed. */
const END_OF_INPUT = Buffer.of(4);

export interface PtyRequest {
  readonly sessionId: string;
  readonly argv: readonly string[];
  /** For chdir; the name people know it by is `shownCwd`. */
  readonly cwd: string;
  readonly shownCwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly size: TerminalSize;
  /** Undefined: as long as the session. A person who reads or thinks is no runaway command. */
  readonly timeoutMs: number | undefined;
  /** Kept for exec.read; more than that is delivered and forgotten. */
  readonly keptBytes: number;
  /** The mark of the session: whatever is started below it can be found again. */
  readonly scope: string;
  readonly spoolDir: string;
  readonly sink: EventSink;
}

export class PtyProcess extends Resource implements SessionProcess {
  readonly id = newId('p');
  readonly ptyId = newId('pty');
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly startedAt = new Date();
  readonly detached = false;
  readonly pty = true;
  /** Resolves with how it ended, after its last event was handed over. */
  readonly ended: Promise<ExitState>;
  readonly #terminal: Pty;
  readonly #request: PtyRequest;
  readonly #spool: OutputSpool;
  readonly #output: OutputStream;
  readonly #startedMs = performance.now();
  #timedOut = false;
  #exit: ExitState | undefined;
  #durationMs: number | undefined;
  #begin: () => void = () => {};

  /** Rejects with PtyUnavailableError or LaunchError. Nothing is sent before `begin`. */
  static async start(request: PtyRequest): Promise<PtyProcess> {
    const { argv, cwd, env, size, scope } = request;
    return new PtyProcess(await openPty({ argv, cwd, env, scope, ...size }), request);
  }

  private constructor(terminal: Pty, request: PtyRequest) {
    super();
    this.argv = request.argv;
    this.cwd = request.shownCwd;
    this.#terminal = terminal;
    this.#request = request;
    const maxBytes = Math.min(request.keptBytes, MAX_SPOOL_BYTES);
    this.#spool = new OutputSpool({ dir: request.spoolDir, maxBytes });
    this.#output = new OutputStream({
      source: terminalSource(terminal),
      budget: new OutputBudget(Infinity, () => {}), // a screen that is drawn again and again has no sensible end
      framer: new OutputFramer('pty.output', this.#ids()),
      spool: this.#spool,
      sink: request.sink,
    });
    const begun = new Promise<void>((resolve) => {
      this.#begin = resolve;
    });
    this.ended = this.#run(begun);
  }

  get pid(): number {
    return this.#terminal.pid;
  }

  get running(): boolean {
    return this.#exit === undefined;
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** True when more was shown than is kept. All of it was delivered. */
  get outputLimitExceeded(): boolean {
    return this.#spool.loss !== undefined;
  }

  get exit(): ExitState | undefined {
    return this.#exit;
  }

  get durationMs(): number {
    return this.#durationMs ?? this.#ageMs();
  }

  state(): ProcessState {
    const waiting = this.#terminal.isWaitingForInput();
    return {
      status: this.#exit?.status ?? 'running',
      exit_code: this.#exit?.exitCode ?? null,
      signal: this.#exit?.signal ?? null,
      bytes_stdout: this.#output.bytes,
      bytes_stderr: 0,
      ...(waiting !== undefined && { waiting_for_input: waiting }),
    };
  }

  /** From here on output flows and the clock runs. Called when the client has been told the terminal's id. */
  begin(): void {
    this.#begin();
  }

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

  kill(signal: number): boolean {
    const { running, mark } = this.#terminal;
    if (!running) return false;
    // A survivor is the guardian's business; the exit is still reported.
    if (signal === SIGTERM) stopTree(mark).catch(() => {});
    else if (signal === SIGKILL) stopTree(mark, { graceMs: 0 }).catch(() => {});
    else signalTree(mark, signal);
    return true;
  }

  /** Rejects with InputClosedError or InputFullError, or with the signal's reason when nobody reads in time. */
  async input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void> {
    if (bytes.length > 0) await withSignal(this.#terminal.write(bytes), signal);
    if (eof) await withSignal(this.#terminal.write(END_OF_INPUT), signal);
  }

  /** Throws ClosedError when the terminal has ended. */
  resize(size: TerminalSize): void {
    this.#terminal.resize(size);
  }

  /** Hangs up and ends all that runs on the terminal. False when someone could not be ended: another user's program. */
  async hangUp(): Promise<boolean> {
    this.#begin();
    try {
      await this.#terminal.close();
    } catch (thrown) {
      if (thrown instanceof SurvivorsError) return false;
      throw thrown;
    }
    await this.ended;
    return true;
  }

  bytes(stream: StreamName): number {
    return stream === 'stdout' ? this.#spool.kept : 0;
  }

  async read(stream: StreamName, offset: number, length: number): Promise<Buffer> {
    return stream === 'stdout' ? await this.#spool.read(offset, length) : Buffer.alloc(0);
  }

  /** For one that has ended: what it may have left running goes on until its session ends. */
  async forget(): Promise<void> {
    await this.#spool.close();
  }

  protected override async release(): Promise<void> {
    try {
      await this.hangUp();
      // By the mark of the session: all of its processes share one sweep, and it finds what forgotten ones have left.
      await stopTree(this.#request.scope);
    } finally {
      await this.#spool.close();
    }
  }

  async #run(begun: Promise<void>): Promise<ExitState> {
    await begun;
    const { timeoutMs } = this.#request;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#stopForTime(), timeoutMs);
    const exited = this.#terminal.exited.then((exit) => {
      clearTimeout(timer); // not when its output has been taken: a client that reads slowly makes nobody late
      return { exit, durationMs: this.#ageMs() };
    });
    await this.#output.run();
    const { exit, durationMs } = await exited;
    this.#durationMs = durationMs;
    this.#exit = describeExit(exit, this.#timedOut);
    await this.#request.sink(this.#exitEvent(this.#exit, durationMs));
    return this.#exit;
  }

  /** Hung up first: a shell at its prompt does not heed TERM. */
  #stopForTime(): void {
    this.#timedOut = true;
    this.#terminal.close().catch(() => {});
  }

  #ageMs(): number {
    return Math.round(performance.now() - this.#startedMs);
  }

  #ids(): { session_id: string; pty_id: string; process_id: string } {
    return { session_id: this.#request.sessionId, pty_id: this.ptyId, process_id: this.id };
  }

  #exitEvent(exit: ExitState, durationMs: number): Uint8Array {
    const params = {
      ...this.#ids(),
      exit_code: exit.exitCode,
      signal: exit.signal,
      timed_out: this.#timedOut,
      duration_ms: durationMs,
    };
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'pty.exit', params }));
  }
}
