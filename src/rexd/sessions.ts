// The sessions of a server: how many there may be, and which of them a client may name.

import { newId } from '../base/ids.js';
import { Resource } from '../base/resource.js';
import { settleAll } from '../base/settle-all.js';
import type { LimitSet } from '../guard/limits.js';
import type { Roots } from '../guard/roots.js';
import { rexdError, sessionNotFound } from './errors.js';
import { Processes } from './exec/processes.js';
import type { RexdLimit } from './limits.js';

export interface SessionFacts {
  readonly clientName: string;
  readonly roots: Roots;
  readonly limits: LimitSet<RexdLimit>;
}

export class Session extends Resource {
  readonly id = newId('s');
  readonly clientName: string;
  readonly roots: Roots;
  readonly limits: LimitSet<RexdLimit>;
  readonly processes: Processes;

  constructor(facts: SessionFacts) {
    super();
    this.clientName = facts.clientName;
    this.roots = facts.roots;
    this.limits = facts.limits;
    this.processes = new Processes(facts.limits);
  }

  /** Where commands run and relative paths begin; null when the server has no roots at all. */
  get cwd(): string | null {
    return this.roots.shown[0] ?? null;
  }

  /** How long a request may take that asks for `asked`; 0 and nothing stand for the default. */
  timeoutMs(asked: number | undefined): number {
    const wanted = asked === undefined || asked === 0 ? this.limits.get('default_timeout_ms') : asked;
    return this.limits.within('hard_timeout_ms', wanted);
  }

  maxOutputBytes(asked: number | undefined): number {
    return this.limits.within('max_output_bytes', asked === 0 ? undefined : asked);
  }

  protected override async release(): Promise<void> {
    await this.processes.closeAll();
  }
}

/**
 * One connection's sessions. Another connection cannot name them: whoever guesses an id is told the same as whoever
 * made one up. The places are shared by all connections of the server.
 */
export class Sessions extends Resource {
  readonly #places: SessionPlaces;
  readonly #open = new Map<string, Session>();
  /** Who is at the other end, as the last session.open said; for the audit of requests that name no open session. */
  clientName: string | undefined;

  constructor(places: SessionPlaces) {
    super();
    this.#places = places;
  }

  open(facts: SessionFacts): Session {
    // Who comes now would be forgotten: the others are being ended already.
    if (this.closing) throw rexdError('resource_limit', 'The connection is ending', {});
    this.#places.take();
    const session = new Session(facts);
    this.#open.set(session.id, session);
    this.clientName = session.clientName;
    return session;
  }

  get(id: string): Session {
    const session = this.#open.get(id);
    if (session === undefined) throw sessionNotFound(id);
    return session;
  }

  async end(id: string): Promise<void> {
    const session = this.get(id);
    this.#open.delete(id);
    await this.#end(session);
  }

  protected override async release(reason: Error): Promise<void> {
    const sessions = [...this.#open.values()];
    this.#open.clear();
    await settleAll(sessions.map((session) => this.#end(session, reason)));
  }

  /** Its place is free when all that it started is gone. */
  async #end(session: Session, reason?: Error): Promise<void> {
    try {
      await session.close(reason);
    } finally {
      this.#places.give();
    }
  }
}

export class SessionPlaces {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  take(): void {
    if (this.#taken >= this.#max) {
      throw rexdError('resource_limit', `${this.#max} sessions are open already; close one first`, {
        limit: 'max_concurrent_sessions',
        value: this.#max,
      });
    }
    this.#taken += 1;
  }

  give(): void {
    this.#taken -= 1;
  }
}
