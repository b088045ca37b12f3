// The processes of a session: those that run, and the last ones that ended.

import { settleAll } from '../../base/settle-all.js';
import type { LimitSet } from '../../guard/limits.js';
import { rexdError } from '../errors.js';
import type { RexdLimit } from '../limits.js';
import type { SessionProcess } from './session-process.js';

/** Ended processes whose state and output can still be asked for; the oldest go first. */
export const MAX_ENDED_PROCESSES = 256;

/** Processes of other sessions that this one has asked about; beyond it the first is looked up again. */
export const MAX_VISITED_PROCESSES = 64;

export class Processes {
  readonly #limits: LimitSet<RexdLimit>;
  readonly #known = new Map<string, SessionProcess>();
  readonly #starting = new Set<Promise<unknown>>();
  /** Places of processes that are not known yet. Given back in the same step in which one becomes known. */
  #reserved = 0;
  /** Not of this session, and not ended with it. */
  readonly #visited = new Map<string, SessionProcess>();
  #sweep: () => Promise<unknown> = () => Promise.resolve();
  #closed = false;

  constructor(limits: LimitSet<RexdLimit>) {
    this.#limits = limits;
  }

  get running(): number {
    let count = 0;
    for (const process of this.#known.values()) if (process.running) count += 1;
    return count;
  }

  all(): readonly SessionProcess[] {
    return [...this.#known.values()];
  }

  /** The place is taken before the start, so that many requests at once cannot all find the last one free. */
  async start<T extends SessionProcess>(start: () => Promise<T>): Promise<T> {
    const max = this.#limits.get('max_processes_per_session');
    if (this.running + this.#reserved >= max) {
      throw rexdError(
        'resource_limit',
        `${max} processes are running already; wait for one to end or kill it`,
        {
          limit: 'max_processes_per_session',
          value: max,
        },
      );
    }
    const starting = this.#startOne(start);
    this.#starting.add(starting);
    try {
      return await starting;
    } finally {
      this.#starting.delete(starting);
    }
  }

  find(id: string): SessionProcess | undefined {
    return this.#known.get(id) ?? this.#visited.get(id);
  }

  get(id: string): SessionProcess {
    const process = this.find(id);
    if (process === undefined)
      throw rexdError('process_not_found', 'No such process in this session', { process_id: id });
    return process;
  }

  /** Remembers a process of nobody, so that what the session has begun with it is finished when the session ends. */
  visit(process: SessionProcess): void {
    const oldest = [...this.#visited.values()].find(({ busy }) => busy !== true);
    if (this.#visited.size >= MAX_VISITED_PROCESSES && oldest !== undefined) this.#visited.delete(oldest.id);
    this.#visited.set(process.id, process);
  }

  /** How all that was ever started here is found and ended, also what processes have left that are forgotten by now. */
  sweepWith(sweep: () => Promise<unknown>): void {
    this.#sweep = sweep;
  }

  /**
   * Ends all that run, except what was started to stay. Whoever is being started meanwhile ends too. What
   * fails keeps nothing else from ending.
   */
  async closeAll(): Promise<void> {
    this.#closed = true;
    const all = [...this.all(), ...this.#visited.values()];
    this.#known.clear();
    this.#visited.clear();
    // Terminals are hung up first; without any, the sweep is the one that the other processes share.
    const hungUp = all.filter(({ pty }) => pty).map((process) => process.close());
    const swept = Promise.allSettled(hungUp).then(() => this.#sweep());
    await settleAll<unknown>([
      swept,
      ...all.map((process) => process.close()),
      ...[...this.#starting].map((starting) => starting.catch(() => {})),
    ]);
  }

  async #startOne<T extends SessionProcess>(start: () => Promise<T>): Promise<T> {
    this.#reserved += 1;
    let process: T;
    try {
      process = await start();
    } finally {
      this.#reserved -= 1;
    }
    if (this.#closed) {
      await (process.discard?.() ?? process.close());
      throw rexdError('process_not_found', 'The session was closed before the process had started', {});
    }
    this.#known.set(process.id, process);
    this.#forgetOldest();
    return process;
  }

  #forgetOldest(): void {
    if (this.#known.size <= MAX_ENDED_PROCESSES) return;
    let tooMany = this.#known.size - this.running - MAX_ENDED_PROCESSES;
    for (const process of this.#known.values()) {
      if (tooMany <= 0) return;
      if (process.running) continue;
      tooMany -= 1;
      this.#known.delete(process.id);
      // What cannot be given back (a spool on a broken disk) is no business of whoever starts the next one.
      (process.forget?.() ?? process.close()).catch(() => {});
    }
  }
}
