// The inbox: events of all agents, on the disk before anybody is told that they have arrived.

import { LocalError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import type { Database } from '../../host/store/database.js';
import { openDatabase } from '../../host/store/open-database.js';
import type { EventCounts } from '../protocol.js';
import type { EventInbox, EventPage, EventStatus, InboxEvent } from '../services.js';
import { isEventId, newEventId } from './event-id.js';
import { GroupCommit } from './group-commit.js';
import { COLUMNS, isoTime, MIGRATIONS, readRow, type StoredEvent } from './inbox-rows.js';

/** Text of all events that one agent may have waiting: whoever never acknowledges must not fill the disk. */
export const MAX_INBOX_BYTES = 1024 * 1024 * 1024;
/** Events of one agent, whatever their size. */
export const MAX_INBOX_EVENTS = 1_000_000;
/** How long the news that an event was delivered may wait for a commit of its own. */
export const DELIVERY_NOTE_MS = 50;

export interface InboxLimits {
  readonly maxBytes: number;
  readonly maxEvents: number;
}

/** An agent has more waiting than it may. */
export class InboxFullError extends LocalError {
  override readonly name = 'InboxFullError';

  constructor(agentId: string) {
    super('inbox_full', `The inbox of ${agentId} is full. Acknowledge or clear events first.`);
  }
}

interface Usage {
  events: number;
  bytes: number;
}

/** What a listener is told: an agent has news, not which. */
type Listener = () => void;

export class Inbox extends Resource implements EventInbox {
  readonly #database: Database;
  readonly #commits: GroupCommit;
  readonly #limits: InboxLimits;
  readonly #usage = new Map<string, Usage>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #delivered: string[] = [];
  #deliveryTimer: NodeJS.Timeout | undefined;

  static async open(path: string, limits: Partial<InboxLimits> = {}): Promise<Inbox> {
    return new Inbox(await openDatabase({ path, migrations: MIGRATIONS }), {
      maxBytes: limits.maxBytes ?? MAX_INBOX_BYTES,
      maxEvents: limits.maxEvents ?? MAX_INBOX_EVENTS,
    });
  }

  private constructor(database: Database, limits: InboxLimits) {
    super();
    this.#database = database;
    this.#commits = new GroupCommit(database);
    this.#limits = limits;
    this.#weigh();
  }

  /** Resolves when the event is durable. Rejects with InboxFullError. */
  async append(agentId: string, text: string, source: string): Promise<InboxEvent> {
    const bytes = Buffer.from(text, 'utf8');
    const usage = this.#usageOf(agentId);
    if (usage.events >= this.#limits.maxEvents || usage.bytes + bytes.length > this.#limits.maxBytes)
      throw new InboxFullError(agentId);
    usage.events += 1;
    usage.bytes += bytes.length;
    const now = Date.now();
    const id = newEventId(now);
    try {
      await this.#commits.run(() =>
        this.#database.run(
          'INSERT INTO events (id, agent_id, received_at, source, text, bytes) VALUES (?, ?, ?, ?, ?, ?)',
          id,
          agentId,
          now,
          source,
          bytes,
          bytes.length,
        ),
      );
    } catch (thrown) {
      usage.events -= 1;
      usage.bytes -= bytes.length;
      throw thrown;
    }
    for (const listener of this.#listeners.get(agentId) ?? []) listener();
    return { id, agentId, receivedAt: isoTime(now), source, text, status: 'pending' };
  }

  async list(agentId: string, { all, limit }: { all: boolean; limit: number }): Promise<EventPage> {
    const where = `agent_id = ?${all ? '' : " AND status <> 'ack'"}`;
    const total = Number(
      this.#database.get(`SELECT count(*) AS n FROM events WHERE ${where}`, agentId)?.['n'],
    );
    const rows = this.#database.all(
      `SELECT ${COLUMNS} FROM events WHERE ${where} ORDER BY seq DESC LIMIT ?`,
      agentId,
      limit,
    );
    return { total, events: rows.map((row) => readRow(row).event) };
  }

  async read(agentId: string, eventId: string): Promise<InboxEvent | undefined> {
    return this.#find(agentId, eventId)?.event;
  }

  async ack(agentId: string, eventId: string): Promise<boolean> {
    const found = this.#find(agentId, eventId);
    if (found === undefined || found.event.status === 'ack') return found !== undefined;
    await this.#commits.run(() =>
      this.#database.run(
        "UPDATE events SET status = 'ack', acked_at = ? WHERE seq = ? AND status <> 'ack'",
        Date.now(),
        found.seq,
      ),
    );
    return true;
  }

  async clear(agentId: string, { all }: { all: boolean }): Promise<number> {
    return await this.#remove(`agent_id = ?${all ? '' : " AND status = 'ack'"}`, agentId);
  }

  counts(agentId: string): EventCounts {
    const rows = this.#database.all(
      'SELECT status, count(*) AS n FROM events WHERE agent_id = ? GROUP BY status',
      agentId,
    );
    const of = (status: EventStatus): number =>
      Number(rows.find((row) => row['status'] === status)?.['n'] ?? 0);
    const [pending, delivered, ack] = [of('pending'), of('delivered'), of('ack')];
    const oldest = this.#database.get(
      "SELECT min(received_at) AS at FROM events WHERE agent_id = ? AND status <> 'ack'",
      agentId,
    )?.['at'];
    return {
      pending,
      delivered,
      ack,
      unacked: pending + delivered,
      oldest_unacked_at: typeof oldest === 'number' ? isoTime(oldest) : null,
    };
  }

  /** The place of the newest event of anybody: what comes later has a higher one. */
  get lastSeq(): number {
    return Number(this.#database.get('SELECT coalesce(max(seq), 0) AS seq FROM events')?.['seq']);
  }

  /** The place of an event of this agent, for a client that says how far it has come. */
  placeOf(agentId: string, eventId: string): number | undefined {
    return this.#find(agentId, eventId)?.seq;
  }

  /** Unacknowledged ones behind `after`, oldest first. `deliveredSince`: of those delivered before, only later ones. */
  next(
    agentId: string,
    range: { after: number; upTo?: number; deliveredSince?: number },
    limit: number,
  ): StoredEvent[] {
    const rows = this.#database.all(
      `SELECT ${COLUMNS} FROM events
       WHERE agent_id = ? AND status <> 'ack' AND seq > ? AND seq <= ?
         AND (status = 'pending' OR delivered_at >= ?)
       ORDER BY seq LIMIT ?`,
      agentId,
      range.after,
      range.upTo ?? Number.MAX_SAFE_INTEGER,
      range.deliveredSince ?? 0,
      limit,
    );
    return rows.map(readRow);
  }

  /** Stamps the first delivery. Lost with a crash it is delivered once more, which is allowed; so it waits for company. */
  noteDelivered(eventId: string): void {
    this.#delivered.push(eventId);
    this.#deliveryTimer ??= setTimeout(() => this.#writeDelivered(), DELIVERY_NOTE_MS);
  }

  /** Calls `listener` for each new event of the agent; gives the way to stop it. */
  subscribe(agentId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(agentId) ?? new Set();
    this.#listeners.set(agentId, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(agentId) === listeners) this.#listeners.delete(agentId);
    };
  }

  /** Removes acknowledged events from before `ackedBefore`, and any from before `receivedBefore`. */
  async sweep(ackedBefore: number, receivedBefore: number): Promise<{ acked: number; expired: number }> {
    const acked = await this.#remove("status = 'ack' AND acked_at < ?", ackedBefore);
    const expired = await this.#remove('received_at < ?', receivedBefore);
    return { acked, expired };
  }

  protected async release(): Promise<void> {
    this.#writeDelivered();
    this.#commits.close();
    await this.#database.close();
  }

  #find(agentId: string, eventId: string): StoredEvent | undefined {
    if (!isEventId(eventId)) return undefined;
    const row = this.#database.get(
      `SELECT ${COLUMNS} FROM events WHERE id = ? AND agent_id = ?`,
      eventId,
      agentId,
    );
    return row === undefined ? undefined : readRow(row);
  }

  async #remove(where: string, value: string | number): Promise<number> {
    const removed = await this.#commits.run(
      () => this.#database.run(`DELETE FROM events WHERE ${where}`, value).changes,
    );
    if (removed > 0) this.#weigh();
    return removed;
  }

  #writeDelivered(): void {
    clearTimeout(this.#deliveryTimer);
    this.#deliveryTimer = undefined;
    const ids = this.#delivered.splice(0);
    if (ids.length === 0) return;
    const now = Date.now();
    this.#commits
      .run(() => {
        for (const id of ids)
          this.#database.run(
            "UPDATE events SET status = 'delivered', delivered_at = ? WHERE id = ? AND status = 'pending'",
            now,
            id,
          );
      })
      .catch(() => {}); // then they stay pending and are delivered again
  }

  /** What each agent has, counted anew. */
  #weigh(): void {
    this.#usage.clear();
    for (const row of this.#database.all(
      'SELECT agent_id, count(*) AS events, sum(bytes) AS bytes FROM events GROUP BY agent_id',
    ))
      this.#usage.set(String(row['agent_id']), {
        events: Number(row['events']),
        bytes: Number(row['bytes']),
      });
  }

  #usageOf(agentId: string): Usage {
    const known = this.#usage.get(agentId);
    if (known !== undefined) return known;
    const usage = { events: 0, bytes: 0 };
    this.#usage.set(agentId, usage);
    return usage;
  }
}
