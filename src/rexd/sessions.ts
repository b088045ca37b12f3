// The sessions of a server: how many there may be, and which of them a client may name.

import { MAX_TIMER_MS } from '../base/deadline.js';
import { newId } from '../base/ids.js';
import { Resource } from '../base/resource.js';
import { settleAll } from '../base/settle-all.js';
import type { LimitSet } from '../guard/limits.js';
import type { Roots } from '../guard/roots.js';
import { rexdError, sessionNotFound } from './errors.js';
import type { EventSink } from './exec/output-stream.js';
import { Processes } from './exec/processes.js';
import type { RexdLimit } from './limits.js';
import type { Outlet } from './resume/journal.js';
import type { Resumption } from './resume/resumption.js';

/** Sessions that are over and whose client can still be told; requests behind the end of an older one go by the last. */
export const MAX_NAMES_REMEMBERED = 64;

export interface SessionFacts {
  /** When the client has been told it already. */
  readonly id?: string;
  readonly clientName: string;
  readonly roots: Roots;
  readonly limits: LimitSet<RexdLimit>;
  /** When it shall outlive its connection. */
  readonly resumption?: Resumption;
}

/** A client that is gone takes everything. */
const NOBODY: EventSink = () => undefined;

export class Session extends Resource {
  readonly id: string;
  readonly clientName: string;
  readonly roots: Roots;
  readonly limits: LimitSet<RexdLimit>;
  readonly processes: Processes;
  readonly resumption: Resumption | undefined;
  /** The way of its events, in order with the answers. */
  readonly sink: EventSink;

  constructor(facts: SessionFacts, sink: EventSink = NOBODY) {
    super();
    this.id = facts.id ?? newId('s');
    this.resumption = facts.resumption;
    this.sink = facts.resumption?.journal.sink ?? sink;
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

  /**
   * The same for a terminal or a detached process, which has no default: a person who thinks and a job of hours are no
   * runaways. A longest time that somebody chose holds for them too, or `detach` would be the way around it. More than a
   * timer keeps is as much as it keeps.
   */
  unhurriedTimeoutMs(asked: number | undefined): number | undefined {
    const hardMs = this.limits.chosen('hard_timeout_ms');
    if (asked === undefined || asked === 0) return hardMs;
    return Math.min(asked, hardMs ?? MAX_TIMER_MS);
  }

  maxOutputBytes(asked: number | undefined): number {
    return this.limits.within('max_output_bytes', asked === 0 ? undefined : asked);
  }

  protected override async release(reason: Error): Promise<void> {
    this.resumption?.finish(reason);
    await this.processes.closeAll();
  }
}

export interface SessionsOptions {
  /** Where events of sessions that end with the connection go. */
  readonly sink?: EventSink;
  /** Where those of the others go, while they are here. */
  readonly outlet?: Outlet;
  /** A session has left for another connection. */
  readonly onTaken?: (session: Session) => void;
}

/**
 * One connection's sessions, or those of none. Another connection cannot name them: whoever guesses an id is told the
 * same as whoever made one up. The places are shared by all connections of the server.
 */
export class Sessions extends Resource {
  readonly #places: SessionPlaces;
  readonly #open = new Map<string, Session>();
  /** Who had the sessions that are over: their last requests are still to be told of. */
  readonly #gone = new Map<string, string>();
  readonly #options: SessionsOptions;
  #lastName: string | undefined;
  #plainEnd: Promise<unknown> = Promise.resolve();
  #over = false;
  #resumable = 0;

  constructor(places: SessionPlaces, options: SessionsOptions = {}) {
    super();
    this.#places = places;
    this.#options = options;
    places.holders.add(this);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Whether any of them outlives the connection: without one, requests need not be remembered. */
  get hasResumable(): boolean {
    return this.#resumable > 0;
  }

  get outlet(): Outlet | undefined {
    return this.#options.outlet;
  }

  /** Programs that run in them. */
  get processes(): number {
    let running = 0;
    for (const { processes } of this.#open.values()) running += processes.running;
    return running;
  }

  open(facts: SessionFacts): Session {
    // Who comes now would be forgotten: the others are being ended already.
    if (this.#over || this.closing) throw connectionEnding();
    this.#assertFew(facts.limits.get('max_concurrent_sessions'));
    this.#places.take();
    const session = new Session(facts, this.#options.sink);
    this.adopt(session);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#open.get(id);
  }

  /** Whoever has the session with this id, on any connection of the server. */
  holderOf(id: string): Sessions | undefined {
    for (const holder of this.#places.holders) if (holder.find(id) !== undefined) return holder;
    return undefined;
  }

  /** A session that was opened elsewhere is here from now on; its place goes with it. New ones begin to send at once. */
  adopt(session: Session): void {
    this.#open.set(session.id, session);
    this.#lastName = session.clientName;
    if (session.resumption === undefined) return;
    this.#resumable += 1;
    const { journal } = session.resumption;
    if (this.outlet === undefined) journal.detach();
    else if (journal.last === 0) journal.attach(this.outlet, 0);
  }

  /** Here from now on, whoever had it. A connection that is over takes nothing: nobody would end it, or find it again. */
  takeOver(session: Session, holder: Sessions): void {
    if (this.closing) throw connectionEnding();
    if (holder === this) return;
    holder.yield(session);
    this.adopt(session);
  }

  /** It goes to another connection, which adopts it. */
  yield(session: Session): void {
    this.#forget(session);
    session.resumption?.journal.detach();
    this.#options.onTaken?.(session);
  }

  /** The client sends nothing more: what ends with the connection ends now. */
  async endPlain(): Promise<void> {
    this.#over = true;
    const plain = [...this.#open.values()].filter(({ resumption }) => resumption === undefined);
    for (const session of plain) this.#forget(session);
    this.#plainEnd = settleAll(plain.map((session) => this.#end(session)));
    await this.#plainEnd;
  }

  /** Those that outlive the connection. */
  resumable(): Session[] {
    return this.#resumable === 0
      ? []
      : [...this.#open.values()].filter((one) => one.resumption !== undefined);
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
    this.#forget(session);
    await this.#end(session);
  }

  protected override async release(reason: Error): Promise<void> {
    const sessions = [...this.#open.values()];
    for (const session of sessions) this.#forget(session);
    this.#places.holders.delete(this);
    // Those that ended with the input are forgotten by now, and their programs may still be ending.
    await settleAll([...sessions.map((session) => this.#end(session, reason)), this.#plainEnd]);
  }

  /** A session may lower how many there are; that holds for its connection, as the server's own number does for all. */
  #assertFew(asked: number): void {
    let most = asked;
    for (const { limits } of this.#open.values())
      most = Math.min(most, limits.get('max_concurrent_sessions'));
    if (this.#open.size >= most) throw tooManySessions(most);
  }

  #forget({ id, clientName, resumption }: Session): void {
    this.#open.delete(id);
    if (resumption !== undefined) this.#resumable -= 1;
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
  /** Everybody who has sessions: a session can be taken from one to another. */
  readonly holders = new Set<Sessions>();
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

  /** What there is, over all holders. */
  load(): { sessions: number; processes: number } {
    const all = [...this.holders];
    return {
      sessions: all.reduce((sum, { size }) => sum + size, 0),
      processes: all.reduce((sum, { processes }) => sum + processes, 0),
    };
  }
}

function tooManySessions(max: number): Error {
  return rexdError('resource_limit', `${max} sessions are open already; close one first`, {
    limit: 'max_concurrent_sessions',
    value: max,
  });
}

function connectionEnding(): Error {
  return rexdError('resource_limit', 'The connection is ending', {});
}
