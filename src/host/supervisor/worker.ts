// One place in a pool: a process that is started again when it ends, until it is told to stop.

import { newAbort } from '../../base/abort.js';
import { deadline, withSignal } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import type { HostProcess } from '../process/host-process.js';
import { spawnProcess } from '../process/spawn.js';
import { GRACE_MS } from '../process/stop-tree.js';
import { type Clock, systemClock } from './clock.js';
import { RestartBudget, type RestartPolicy } from './restart-budget.js';
import type { WorkerEvent } from './worker-event.js';

/** From start to ready. */
export const READY_TIMEOUT_MS = 30_000;
/** Between the end of its input, which a well-made worker takes as a reason to end, and TERM. */
export const INPUT_GRACE_MS = 500;
/** How long a consumer may take for the last output of a worker that has ended. */
export const LAST_OUTPUT_MS = 2000;

export type WorkerState = 'starting' | 'ready' | 'waiting' | 'stopping' | 'stopped' | 'failed';

export interface WorkerOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A function is asked at every restart. */
  readonly restart?: Partial<RestartPolicy> | (() => Partial<RestartPolicy>);
  /** `descriptor`: `attach` reads stdout by itself, from `process.stdoutFd`. */
  readonly stdout?: 'pipe' | 'descriptor';
  readonly graceMs?: number;
  readonly readyTimeoutMs?: number;
  /**
   * Called at once with each new process, to take its pipes; the worker is ready when it resolves. Must read stdout
   * and stderr, or discard them. A rejection ends the process as a failed start. Absent: output is discarded.
   */
  readonly attach?: (process: HostProcess, worker: Worker) => Promise<void> | void;
  readonly onEvent?: (event: WorkerEvent) => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** Work in hand: while it is held, a worker that is drained is left running. */
export type Lease = Disposable;

export class Worker {
  readonly id: string;
  /** Resolves when the worker is ready for the first time, or it is clear that it never will be. */
  readonly settled: Promise<void>;
  readonly #options: WorkerOptions;
  readonly #scope: string;
  readonly #clock: Clock;
  readonly #budget: RestartBudget;
  readonly #stopping = newAbort();
  /** Its process cannot be killed. */
  readonly #stuck = new AbortController();
  readonly #finished: Promise<void>;
  readonly #leases = new Set<Lease>();
  #state: WorkerState = 'starting';
  #process: HostProcess | undefined;
  #draining = false;
  #resolveSettled: () => void = () => {};
  #onIdle: (() => void) | undefined;

  constructor(id: string, scope: string, options: WorkerOptions) {
    this.id = id;
    this.#scope = scope;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#budget = new RestartBudget(options.restart, options.random);
    this.settled = new Promise((resolve) => {
      this.#resolveSettled = resolve;
    });
    this.#finished = this.#run();
  }

  get state(): WorkerState {
    return this.#state;
  }

  /** The process of the moment; undefined between two. */
  get process(): HostProcess | undefined {
    return this.#process;
  }

  /** Pieces of work in hand. */
  get load(): number {
    return this.#leases.size;
  }

  /** Takes one piece of work in hand, until the lease is disposed. Undefined when the worker takes none. */
  hold(): Lease | undefined {
    if (this.#state !== 'ready' || this.#draining) return undefined;
    const lease: Lease = { [Symbol.dispose]: () => this.#release(lease) };
    this.#leases.add(lease);
    return lease;
  }

  /** Takes no more work, waits for what is in hand, then stops. Gives the pieces that were not finished in time. */
  async drain(timeoutMs: number): Promise<number> {
    this.#draining = true;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    if (this.#leases.size > 0) {
      using limit = deadline(timeoutMs, { also: [this.#stopping.signal] });
      await withSignal(idle, limit.signal).catch(() => {});
    }
    const unfinished = this.#leases.size;
    await this.stop();
    return unfinished;
  }

  /**
   * End of input, then TERM, then KILL, and no restart. Resolves when the whole tree is gone, or when its process has
   * been found impossible to kill: then the state is `failed`.
   */
  async stop(options: { readonly inputGraceMs?: number; readonly graceMs?: number } = {}): Promise<void> {
    if (this.#state !== 'failed' && this.#state !== 'stopped') this.#state = 'stopping';
    this.#stopping.abort();
    const held = this.#process;
    if (held?.running === true) {
      await endInput(held, options.inputGraceMs ?? INPUT_GRACE_MS);
      await this.#stopTree(held, options.graceMs);
    }
    await this.#finished;
  }

  async #run(): Promise<void> {
    for (;;) {
      const ended = await this.#runOnce();
      if (!ended) return this.#fail(this.#clock.now());
      if (this.#stopping.signal.aborted) break;
      const now = this.#clock.now();
      const delayMs = this.#budget.take(now);
      if (delayMs === undefined) return this.#fail(now);
      this.#state = 'waiting';
      this.#emit({ type: 'restarting', worker: this.id, delayMs, restarts: this.#budget.used(now) });
      await this.#clock.sleep(delayMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) break;
    }
    this.#state = 'stopped';
    this.#emit({ type: 'stopped', worker: this.id });
    this.#resolveSettled();
  }

  #fail(now: number): void {
    this.#state = 'failed';
    const { windowMs } = this.#budget.policy;
    this.#emit({ type: 'failed', worker: this.id, restarts: this.#budget.used(now), windowMs });
    this.#resolveSettled();
  }

  /** From the start of one process to the end of its tree. False when there is no ending it. */
  async #runOnce(): Promise<boolean> {
    this.#state = 'starting';
    const held = await this.#launch();
    if (held === undefined) return true;
    this.#process = held;
    this.#emit({ type: 'started', worker: this.id, pid: held.pid });
    const attached = this.#attach(held);
    if (this.#stopping.signal.aborted) await this.#stopTree(held); // told to while it was starting
    const exit = await withSignal(held.leaderExit, this.#stuck.signal).catch(() => undefined);
    if (exit === undefined) {
      held.letGo(); // another one beside it might do the same work twice, so there is none
      this.#process = undefined;
      return false;
    }
    this.#leaveReady();
    using limit = deadline(LAST_OUTPUT_MS);
    await withSignal(held.exited, limit.signal).catch(() => {});
    await held.close().catch((error: unknown) => this.#complain(error)); // with those it left behind
    await attached;
    this.#process = undefined;
    this.#emit({ type: 'exited', worker: this.id, pid: held.pid, exit });
    return true;
  }

  async #launch(): Promise<HostProcess | undefined> {
    const { command, args = [], cwd, env, stdout } = this.#options;
    try {
      return await spawnProcess({
        argv: [command, ...args],
        stdin: 'pipe',
        scope: this.#scope,
        ...(stdout !== undefined && { stdout }),
        ...(cwd !== undefined && { cwd }),
        ...(env !== undefined && { env }),
      });
    } catch (error) {
      this.#emit({ type: 'start_failed', worker: this.id, error: toError(error) });
      return undefined;
    }
  }

  async #attach(held: HostProcess): Promise<void> {
    using limit = deadline(this.#options.readyTimeoutMs ?? READY_TIMEOUT_MS, { also: [held.signal] });
    try {
      await withSignal(this.#handOver(held), limit.signal);
      if (this.#state !== 'starting' || !held.running) return;
      this.#state = 'ready';
      this.#emit({ type: 'ready', worker: this.id, pid: held.pid });
      this.#resolveSettled();
    } catch (error) {
      if (!held.running || this.#stuck.signal.aborted) return; // its end, or that there is none, is the news
      this.#emit({ type: 'start_failed', worker: this.id, error: toError(error) });
      await this.#stopTree(held);
    }
  }

  async #handOver(held: HostProcess): Promise<void> {
    if (this.#options.attach !== undefined) return this.#options.attach(held, this);
    held.stdout?.discard();
    held.stderr?.discard();
  }

  /** Its process has ended: nobody shall be sent here any more. */
  #leaveReady(): void {
    if (this.#state === 'ready') this.#state = 'waiting';
  }

  async #stopTree(held: HostProcess, graceMs = this.#options.graceMs ?? GRACE_MS): Promise<void> {
    try {
      await held.stop({ graceMs });
    } catch (error) {
      this.#complain(error);
      if (held.running) this.#stuck.abort();
    }
  }

  #release(lease: Lease): void {
    this.#leases.delete(lease);
    if (this.#leases.size === 0) this.#onIdle?.();
  }

  #complain(error: unknown): void {
    this.#emit({ type: 'stop_failed', worker: this.id, error: toError(error) });
  }

  /** A listener that throws must not take the worker with it, nor go unnoticed. */
  #emit(event: WorkerEvent): void {
    try {
      this.#options.onEvent?.(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

async function endInput(held: HostProcess, graceMs: number): Promise<void> {
  void held.stdin?.end();
  using limit = deadline(graceMs);
  await withSignal(held.leaderExit, limit.signal).catch(() => {});
}
