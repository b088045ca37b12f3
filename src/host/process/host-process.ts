// A running child: its pipes, its end, and the means to end it with all that descends from it.

import { errnoOf } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import type { InputPipe } from './input-pipe.js';
import type { Leader, LeaderExit } from './leader.js';
import type { OutputPipe } from './output-pipe.js';
import { addLeader, removeLeader, removePipe } from './roster.js';
import { type StopOptions, type StopReport, stopTree } from './stop-tree.js';

export interface ExitReport extends LeaderExit {
  readonly durationMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** True when someone the process left behind still had an output open, so that we stopped listening. */
  readonly outputHeld: boolean;
}

export interface HostProcessParts {
  readonly leader: Leader;
  readonly mark: string;
  readonly detached: boolean;
  readonly stdin: InputPipe | undefined;
  readonly stdout: OutputPipe | undefined;
  readonly stderr: OutputPipe | undefined;
  /** In place of `stdout`, when somebody else reads it. */
  readonly stdoutPipe?: { readonly fd: number; readonly path: string };
}

export class HostProcess extends Resource {
  readonly pid: number;
  /** What its environment carries, and by which `stopTree` finds it and all that is below. */
  readonly mark: string;
  readonly detached: boolean;
  readonly stdin: InputPipe | undefined;
  readonly stdout: OutputPipe | undefined;
  readonly stderr: OutputPipe | undefined;
  /** The reading end of stdout, for who asked for a `descriptor`: theirs to read and to close, with all that may be in it. */
  readonly stdoutFd: number | undefined;
  readonly #stdoutPath: string | undefined;
  /** The process itself has ended. Output may still be under way. */
  readonly leaderExit: Promise<LeaderExit>;
  /**
   * The last word: resolves when the process has ended and all its output has been read by the consumer, or discarded.
   * An output that nobody reads holds it back until `close`; one that a grandchild keeps open does so for 250 ms.
   */
  readonly exited: Promise<ExitReport>;
  /** Undefined once it has ended: who keeps an ended process shall not keep all that Node has made for it. */
  #leader: Leader | undefined;

  constructor(parts: HostProcessParts) {
    super();
    this.pid = parts.leader.pid;
    this.mark = parts.mark;
    this.detached = parts.detached;
    this.stdin = parts.stdin;
    this.stdout = parts.stdout;
    this.stderr = parts.stderr;
    this.stdoutFd = parts.stdoutPipe?.fd;
    this.#stdoutPath = parts.stdoutPipe?.path;
    this.#leader = parts.leader;
    const startedAtMs = performance.now();
    addLeader(this.pid, this.mark, () => parts.leader.isOurs());
    this.leaderExit = new Promise((resolve) => {
      parts.leader.onExit((exit) => {
        this.#leaderEnded();
        resolve(exit);
      });
    });
    this.exited = this.#report(startedAtMs);
  }

  /** False once the process itself has ended, whoever of its tree may be left. */
  get running(): boolean {
    return this.#leader !== undefined;
  }

  /** Sends a signal to the process and its group. False when the process has ended already. */
  sendSignal(signal: number): boolean {
    if (this.#leader?.isOurs() !== true) return false; // the number may belong to others by now
    try {
      process.kill(-this.pid, signal);
      return true;
    } catch (error) {
      if (errnoOf(error) === 'ESRCH') return false;
      throw error;
    }
  }

  /** TERM, grace, KILL to the whole tree; also after the process has ended, for those it left behind. */
  stop(options?: StopOptions): Promise<StopReport> {
    return stopTree(this.mark, options);
  }

  /** Lets the event loop end although the process runs. */
  unref(): void {
    this.#leader?.unref();
    this.stdin?.unref();
    this.stdout?.unref();
    this.stderr?.unref();
  }

  /** Closes our ends of its pipes and waits for it no longer: for one that cannot be killed. */
  letGo(): void {
    this.unref();
    this.#closePipes();
  }

  /** A detached process goes on; only our ends of its pipes are closed. */
  protected async release(): Promise<void> {
    try {
      if (this.detached) this.unref();
      else await stopTree(this.mark);
    } finally {
      this.#closePipes();
    }
  }

  #closePipes(): void {
    this.stdin?.destroy();
    this.stdout?.destroy();
    this.stderr?.destroy();
    if (this.#stdoutPath !== undefined) removePipe(this.#stdoutPath);
  }

  #leaderEnded(): void {
    this.#leader = undefined;
    removeLeader(this.pid);
    this.stdin?.destroy();
    this.stdout?.expectEnd();
    this.stderr?.expectEnd();
  }

  async #report(startedAtMs: number): Promise<ExitReport> {
    const exit = await this.leaderExit;
    const durationMs = performance.now() - startedAtMs;
    await Promise.all([this.stdout?.drained, this.stderr?.drained]);
    return {
      ...exit,
      durationMs,
      stdoutBytes: this.stdout?.bytes ?? 0,
      stderrBytes: this.stderr?.bytes ?? 0,
      outputHeld: this.stdout?.held === true || this.stderr?.held === true,
    };
  }
}
