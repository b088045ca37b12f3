// A process of pty.open: what its terminal shows on the way to the client, what is typed, its end.

import { withSignal } from '../../base/deadline.js';
import { newId } from '../../base/ids.js';
import type { LeaderExit } from '../../host/process/leader.js';
import { MAX_SPOOL_BYTES, OutputSpool } from '../../host/process/spool.js';
import { SurvivorsError } from '../../host/process/stop-tree.js';
import { openPty } from '../../host/pty/open-pty.js';
import type { Pty } from '../../host/pty/pty.js';
import type { TerminalSize } from '../../host/pty/terminal-size.js';
import { waitForOutput } from '../exec/ask-process.js';
import type { ExitState } from '../exec/exit-state.js';
import { type ExitEvent, LiveProcess } from '../exec/live-process.js';
import { OutputBudget } from '../exec/output-budget.js';
import { OutputFramer } from '../exec/output-frame.js';
import { type EventSink, OutputStream } from '../exec/output-stream.js';
import type { ProcessState, StreamName } from '../exec/session-process.js';
import { terminalSource } from './terminal-source.js';

/** Ctrl-D: how a terminal is told that no more will be typed. */
const END_OF_INPUT = Buffer.of(4);

export interface PtyRequest {
  readonly sessionId: string;
  readonly argv: readonly string[];
  /** What is really started, when `argv` runs in a sandbox. */
  readonly sandboxed?: readonly string[] | undefined;
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

export class PtyProcess extends LiveProcess {
  readonly ptyId = newId('pty');
  readonly pty = true;
  readonly #terminal: Pty;
  readonly #request: PtyRequest;
  readonly #spool: OutputSpool;
  readonly #output: OutputStream;

  /** Rejects with PtyUnavailableError or LaunchError. Nothing is sent before `begin`. */
  static async start(request: PtyRequest): Promise<PtyProcess> {
    const { cwd, env, size, scope } = request;
    const argv = request.sandboxed ?? request.argv;
    return new PtyProcess(await openPty({ argv, cwd, env, scope, ...size }), request);
  }

  private constructor(terminal: Pty, request: PtyRequest) {
    super({ ...request, id: newId('p') });
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
  }

  get pid(): number {
    return this.#terminal.pid;
  }

  /** True when more was shown than is kept. All of it was delivered. */
  get outputLimitExceeded(): boolean {
    return this.#spool.loss !== undefined;
  }

  state(): ProcessState {
    const waiting = this.#terminal.isWaitingForInput();
    return {
      ...this.endState(),
      bytes_stdout: this.#output.bytes,
      bytes_stderr: 0,
      ...(waiting !== undefined && { waiting_for_input: waiting }),
    };
  }

  /** Rejects with InputClosedError or InputFullError, or with the signal's reason when nobody reads in time. */
  async input(bytes: Uint8Array, eof: boolean, signal: AbortSignal): Promise<void> {
    // In one piece: nobody types in between, and the end comes also when the caller does not wait for it.
    const typed = eof ? Buffer.concat([bytes, END_OF_INPUT]) : bytes;
    if (typed.length > 0) await withSignal(this.#terminal.write(typed), signal);
  }

  /** Throws ClosedError when the terminal has ended. */
  resize(size: TerminalSize): void {
    this.#terminal.resize(size);
  }

  /** Closes the terminal; the program is hung up and may go on without. Its end is still told. */
  disconnect(): void {
    this.#terminal.disconnect();
  }

  /** Hangs up and ends all that runs on the terminal. False when someone could not be ended: another user's program. */
  async hangUp(): Promise<boolean> {
    try {
      await this.#terminal.close();
    } catch (thrown) {
      if (thrown instanceof SurvivorsError) return false;
      throw thrown;
    }
    if (this.begun) await this.ended;
    return true;
  }

  bytes(stream: StreamName): number {
    return stream === 'stdout' ? this.#spool.kept : 0;
  }

  async read(stream: StreamName, offset: number, length: number): Promise<Buffer> {
    return stream === 'stdout' ? await this.#spool.read(offset, length) : Buffer.alloc(0);
  }

  async waitForOutput(stream: StreamName, offset: number, signal: AbortSignal): Promise<void> {
    const isThere = (): boolean => this.bytes(stream) > offset || !this.running || this.closing;
    const next = (): Promise<unknown> =>
      this.#output.over || stream === 'stderr' ? this.ended : this.#output.grown();
    await waitForOutput(isThere, next, signal);
  }

  /** For one that has ended: what it may have left running goes on until its session ends. */
  async forget(): Promise<void> {
    await this.#spool.close();
  }

  protected override async release(): Promise<void> {
    try {
      await this.hangUp(); // who could not be ended is found, and named, by the sweep of the session
    } finally {
      await this.#spool.close();
    }
  }

  protected override get mark(): string {
    return this.#terminal.mark;
  }

  protected override get leaderRuns(): boolean {
    return this.#terminal.running;
  }

  protected override get leaderExit(): Promise<LeaderExit> {
    return this.#terminal.exited;
  }

  protected override async deliverOutput(): Promise<void> {
    await this.#output.run();
  }

  /** Hung up first: a shell at its prompt does not heed TERM. */
  protected override stopForTime(): void {
    this.#terminal.close().catch(() => {});
  }

  protected override exitEvent(exit: ExitState): ExitEvent {
    const params = {
      ...this.#ids(),
      exit_code: exit.exitCode,
      signal: exit.signal,
      timed_out: this.timedOut,
      duration_ms: this.durationMs,
    };
    return { method: 'pty.exit', params };
  }

  #ids(): { session_id: string; pty_id: string; process_id: string } {
    return { session_id: this.#request.sessionId, pty_id: this.ptyId, process_id: this.id };
  }
}
