// The inbox as tables, and a row of it as an event.

import type { SqlRow } from '../../host/store/sql-values.js';
import type { EventStatus, InboxEvent } from '../services.js';

/** Texts are bytes: SQLite's own text ends at a zero byte. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     agent_id TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     source TEXT NOT NULL,
     text BLOB NOT NULL,
     bytes INTEGER NOT NULL,
     status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'ack')),
     delivered_at INTEGER,
     acked_at INTEGER
   );
   CREATE INDEX events_of_agent ON events (agent_id, status, seq, bytes);
   CREATE INDEX events_by_age ON events (received_at);`,
];

export const COLUMNS = 'seq, id, agent_id, received_at, source, text, status, delivered_at, acked_at';

export interface StoredEvent {
  /** Where it stands among all events there ever were. */
  readonly seq: number;
  readonly event: InboxEvent;
}

export function readRow(row: SqlRow): StoredEvent {
  const { seq, id, agent_id, received_at, source, text, status, delivered_at, acked_at } = row;
  return {
    seq: Number(seq),
    event: {
      id: String(id),
      agentId: String(agent_id),
      receivedAt: isoTime(Number(received_at)),
      source: String(source),
      text: Buffer.isBuffer(text) ? text.toString('utf8') : '',
      status: String(status) as EventStatus,
      ...(typeof delivered_at === 'number' && { deliveredAt: isoTime(delivered_at) }),
      ...(typeof acked_at === 'number' && { ackedAt: isoTime(acked_at) }),
    },
  };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
