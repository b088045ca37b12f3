// One place in a pool: a process that is kept running, and the worker that the router knows it by.

import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { deadline, withSignal } from '../../base/deadline.js';
import { LocalError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import type { HostProcess } from '../../host/process/host-process.js';
import type { LeaderExit } from '../../host/process/leader.js';
import { LaunchError } from '../../host/process/launch-error.js';
import { DRAIN_AFTER_EXIT_MS } from '../../host/process/output-pipe.js';
import type { RestartPolicy } from '../../host/supervisor/restart-budget.js';
import { INPUT_GRACE_MS, Worker, type WorkerState } from '../../host/supervisor/worker.js';
import type { WorkerEvent } from '../../host/supervisor/worker-event.js';
import type { PoolConfig } from '../config/schema.js';
import type { Router } from '../route/router.js';
import type { BusWorkerHandle } from '../route/settings.js';
import { keepPinging } from './keep-pinging.js';
import { sayExit } from './say-exit.js';
import { passOnStderr } from './stderr-lines.js';
import { workerEnvironment } from './worker-environment.js';

/** A worker that has closed its output or its input and lives on can answer nobody; after this long it is ended. */
export const CLOSED_OUTPUT_MS = 1000;

/** How often it is looked at whether a worker that somebody waits for still has its input open. */
export const READER_LOOK_MS = 1000;
/** One that has not may have read what it was asked before: for so long it may still answer. */
export const LAST_ANSWERS_MS = 5000;

export interface PlaceOptions {
  /** `echo/0`, for logs and statistics. */
  readonly name: string;
  readonly pool: PoolConfig;
  readonly scope: string;
  /** As the configuration has it at the time of a restart. */
  readonly restart: () => Partial<RestartPolicy>;
  readonly env: NodeJS.ProcessEnv;
  readonly router: Pick<Router, 'addWorker'>;
  readonly log: Log;
  readonly onStderr: (worker: string, line: string) => void;
  /** Something has changed that the pool may want to know. */
  readonly onChange: () => void;
}

export interface StopOptions {
  /** How long requests that are under way may take; absent: they are not waited for. */
  readonly pendingMs?: number;
  /** Between TERM and KILL. */
  readonly graceMs?: number;
}

export class Place {
  readonly name: string;
  /** Resolves when its first process runs; rejects when that could not be started. */
  readonly launched: Promise<void>;
  readonly #options: PlaceOptions;
  readonly #worker: Worker;
  #handle: BusWorkerHandle | undefined;
  /** Whoever waited for the worker of the moment has been told that it is gone. */
  #removed: Promise<void> | undefined;
  /** The process that is being ended for what it does not do; once is enough. */
  #failed: HostProcess | undefined;
  #restarts = 0;
  #launchedOnce = false;
  #stopping = false;
  #tellLaunched: (problem?: Error) => void = () => {};

  constructor(options: PlaceOptions) {
    const { name, pool, scope, restart, env } = options;
    this.name = name;
    this.#options = options;
    this.launched = new Promise((resolve, reject) => {
      this.#tellLaunched = (problem) => (problem === undefined ? resolve() : reject(problem));
    });
    this.launched.catch(() => {}); // told in the log too; not everybody waits for it
    this.#worker = new Worker(name, scope, {
      command: pool.command,
      args: pool.args,
      env: workerEnvironment(pool, env),
      restart,
      stdout: 'descriptor',
      ...(pool.cwd !== undefined && { cwd: pool.cwd }),
      ...(pool.ready !== undefined && { readyTimeoutMs: pool.ready.timeout_ms }),
      attach: (process) => this.#attach(process),
      onEvent: (event) => this.#onEvent(event),
    });
  }

  get state(): WorkerState {
    return this.#worker.state;
  }

  get pid(): number | undefined {
    return this.#worker.process?.pid;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** The seed's Worker ID of the process of the moment. */
  get number(): number | undefined {
    return this.#handle?.number;
  }

  /** True when the worker is ready; false when there is no hope of it any more. */
  async settled(): Promise<boolean> {
    await this.#worker.settled;
    return this.#worker.state === 'ready';
  }

  /** Ends the process of the moment, which no longer does what it is for; another takes its place. */
  fail(why: string): void {
    const { process } = this.#worker;
    if (this.#stopping || process?.running !== true || process === this.#failed) return;
    this.#failed = process;
    void this.#handle?.retire(); // while it ends, others do the work, or it waits for the next
    this.#options.log.error('a worker is ended, and started again', { worker: this.name, reason: why });
    void process.stop().catch(() => {}); // what could not be killed is told by the supervisor
  }

  /** Gets no new work, finishes what it has, and goes with all that it has started. */
  async stop({ pendingMs = 0, graceMs }: StopOptions = {}): Promise<void> {
    this.#stopping = true;
    const handle = this.#handle;
    if (handle !== undefined) {
      const idle = handle.retire();
      if (pendingMs > 0) await within(pendingMs, idle);
      await within(INPUT_GRACE_MS, handle.endInput());
    }
    await this.#worker.stop({
      inputGraceMs: Math.min(INPUT_GRACE_MS, graceMs ?? INPUT_GRACE_MS),
      ...(graceMs !== undefined && { graceMs }),
    });
    await this.#removed;
  }

  /** At once, with all that it has started. */
  async kill(): Promise<void> {
    this.#stopping = true;
    await this.#worker.stop({ inputGraceMs: 0, graceMs: 0 });
    await this.#removed;
  }

  /** Resolves when the worker may be given work. */
  async #attach(process: HostProcess): Promise<void> {
    const { pool, router, log, onStderr } = this.#options;
    const announced = new Announcement(pool.ready?.stderr);
    if (process.stderr !== undefined)
      void passOnStderr(process.stderr, (line) => {
        announced.look(line);
        onStderr(this.name, line);
      });
    const stdout =
      process.stdoutFd ?? (process.stdout === undefined ? undefined : Readable.from(process.stdout));
    if (process.stdin === undefined || stdout === undefined)
      throw new LocalError('no_pipes', 'the worker has no pipes');
    const handle = router.addWorker(
      { stdin: process.stdin.stream, stdout },
      { pool: pool.id, name: this.name, admitted: false },
    );
    this.#handle = handle;
    this.#removed = this.#removeAtEnd(process, handle);
    if (pool.ready?.method !== undefined)
      await handle.request(pool.ready.method, pool.ready.params ?? {}, pool.ready.timeout_ms);
    await announced.seen;
    if (!process.running) return;
    handle.admit();
    if (pool.ping !== undefined) {
      const { signal } = process;
      void keepPinging(handle, pool.ping, { signal, log, onSilent: (why) => this.fail(why) });
    }
  }

  async #removeAtEnd(process: HostProcess, handle: BusWorkerHandle): Promise<void> {
    const first = await Promise.race([
      process.leaderExit,
      handle.ended.then(() => 'output' as const),
      handle.deaf.then(() => 'input' as const),
      this.#inputClosed(process, handle),
    ]);
    if (typeof first === 'string') {
      await within(CLOSED_OUTPUT_MS, process.leaderExit);
      if (process.running) this.fail(`it has closed its ${first}`);
    }
    const exit = await process.leaderExit;
    // What it wrote before its end is still to be read. A grandchild that holds the pipe is not waited for.
    await within(DRAIN_AFTER_EXIT_MS, handle.ended);
    handle.remove(`worker ${this.name} ${sayExit(exit)}`);
    if (this.#handle === handle) this.#handle = undefined;
    this.#options.onChange();
  }

  /** A pipe that broke is told by the next write: whoever has sent the last one must not wait for that. */
  async #inputClosed(process: HostProcess, handle: BusWorkerHandle): Promise<'input' | LeaderExit> {
    const { signal } = process;
    while (!signal.aborted) {
      await delay(READER_LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
      if (handle.load === 0 || process.stdin?.hasReader !== false) continue;
      await within(LAST_ANSWERS_MS, handle.retire());
      return 'input';
    }
    return await process.leaderExit;
  }

  #onEvent(event: WorkerEvent): void {
    const { log, onChange } = this.#options;
    const worker = this.name;
    switch (event.type) {
      case 'started':
        this.#launchedOnce = true;
        this.#tellLaunched();
        log.debug('a worker was started', { worker, worker_pid: event.pid });
        break;
      case 'ready':
        log.info('a worker is ready', { worker, worker_pid: event.pid });
        break;
      case 'start_failed':
        if (event.error instanceof LaunchError) this.#tellLaunched(event.error);
        log.error('a worker could not be started', { worker, reason: event.error.message });
        break;
      case 'exited':
        if (this.#stopping) log.debug('a worker has ended', { worker, worker_pid: event.pid });
        else log.warn(`a worker ${sayExit(event.exit)}`, { worker, worker_pid: event.pid, ...event.exit });
        break;
      case 'restarting':
        this.#restarts += 1;
        // Of one that has never run, whoever started it is told, and most likely ends it: this would be the last word.
        log[this.#launchedOnce ? 'warn' : 'debug']('a worker is started again', {
          worker,
          delay_ms: Math.round(event.delayMs),
          restarts: event.restarts,
        });
        break;
      case 'failed':
        log.error('a worker is given up: it has used up its restarts', {
          worker,
          restarts: event.restarts,
          window_sec: event.windowMs / 1000,
        });
        break;
      case 'stop_failed':
        log.error('a worker could not be ended', { worker, reason: event.error.message });
        break;
      case 'stopped':
        break;
    }
    onChange();
  }
}

/** A text that a worker prints when it is ready. */
class Announcement {
  readonly #text: string | undefined;
  readonly seen: Promise<void>;
  #tell: () => void = () => {};

  constructor(text: string | undefined) {
    this.#text = text;
    this.seen = text === undefined ? Promise.resolve() : new Promise((resolve) => (this.#tell = resolve));
  }

  look(line: string): void {
    if (this.#text !== undefined && line.includes(this.#text)) this.#tell();
  }
}

/** Waits for `work`, but no longer than `ms`, and whatever becomes of it. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  using limit = deadline(ms);
  await withSignal(work, limit.signal).catch(() => {});
}
