// The sessions of a server: how many there may be, and which of them a client may name.

import { newId } from '../base/ids.js';
import { Resource } from '../base/resource.js';
import { settleAll } from '../base/settle-all.js';
import type { LimitSet } from '../guard/limits.js';
import type { Roots } from '../guard/roots.js';
import { rexdError, sessionNotFound } from './errors.js';
import { Processes } from './exec/processes.js';
import type { RexdLimit } from './limits.js';

/** Sessions that are over and whose client can still be told; requests behind the end of an older one go by the last. */
export const MAX_NAMES_REMEMBERED = 64;

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
  /** Who had the sessions that are over: their last requests are still to be told of. */
  readonly #gone = new Map<string, string>();
  #lastName: string | undefined;

  constructor(places: SessionPlaces) {
    super();
    this.#places = places;
  }

  open(facts: SessionFacts): Session {
    // Who comes now would be forgotten: the others are being ended already.
    if (this.closing) throw rexdError('resource_limit', 'The connection is ending', {});
    this.#assertFew(facts.limits.get('max_concurrent_sessions'));
    this.#places.take();
    const session = new Session(facts);
    this.#open.set(session.id, session);
    this.#lastName = session.clientName;
    return session;
  }

  get(id: string): Session {
    const session = this.#open.get(id);
    if (session === undefined) throw sessionNotFound(id);
    return session;
  }

  /** Who has this session, or had it; for an id that is none of ours, whoever opened the last one here. */
  clientNameOf(id: string | undefined): string | undefined {
    if (id === undefined) return this.#lastName;
    return this.#open.get(id)?.clientName ?? this.#gone.get(id) ?? this.#lastName;
  }

  async end(id: string): Promise<void> {
    const session = this.get(id);
    this.#open.delete(id);
    this.#remember(session);
    await this.#end(session);
  }

  protected override async release(reason: Error): Promise<void> {
    const sessions = [...this.#open.values()];
    for (const session of sessions) this.#remember(session);
    this.#open.clear();
    await settleAll(sessions.map((session) => this.#end(session, reason)));
  }

  /** A session may lower how many there are; that holds for its connection, as the server's own number does for all. */
  #assertFew(asked: number): void {
    let most = asked;
    for (const { limits } of this.#open.values())
      most = Math.min(most, limits.get('max_concurrent_sessions'));
    if (this.#open.size >= most) throw tooManySessions(most);
  }

  #remember({ id, clientName }: Session): void {
    for (const oldest of this.#gone.keys()) {
      if (this.#gone.size < MAX_NAMES_REMEMBERED) break;
      this.#gone.delete(oldest);
    }
    this.#gone.set(id, clientName);
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
    if (this.#taken >= this.#max) throw tooManySessions(this.#max);
    this.#taken += 1;
  }

  give(): void {
    this.#taken -= 1;
  }
}

function tooManySessions(max: number): Error {
  return rexdError('resource_limit', `${max} sessions are open already; close one first`, {
    limit: 'max_concurrent_sessions',
    value: max,
  });
}
