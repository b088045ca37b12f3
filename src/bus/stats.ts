// Counters of the bus: what went through, what was refused and why, what is waiting now.

/** Grows only. Numbers of plain objects: counted on the way of every message. */
export interface BusCounters {
  messagesFromClients: number;
  messagesFromWorkers: number;
  bytesFromClients: number;
  bytesFromWorkers: number;
  bytesToClients: number;
  bytesToWorkers: number;
  clientsConnected: number;
  clientsClosed: number;
  workersAdded: number;
  workersRemoved: number;
  /** Errors the bus answered itself. */
  errorsAnswered: number;
  /** Lines of clients that closed them: no JSON, no object, too long, nothing to route by. */
  malformedFromClients: number;
  oversizeFromClients: number;
  unroutableFromClients: number;
  /** Lines of workers that were not believed. */
  rubbishFromWorkers: number;
  oversizeFromWorkers: number;
  /** Answers nobody waits for any more (the client is gone), or never asked for. */
  repliesDropped: number;
  /** Notifications with nowhere to go, from either side. */
  notificationsDropped: number;
  /** Answers to a request that no worker has made, and those of ours that a worker does not read. */
  answersDropped: number;
  sessionsOpened: number;
  sessionsLost: number;
  /** Lines that waited for an id, and ids that were changed for the way to the worker and back. */
  held: number;
  rewritten: number;
  pauses: number;
  closedForBackpressure: number;
}

export interface WorkerStats {
  readonly number: number;
  readonly name: string;
  readonly pool: string;
  readonly load: number;
  readonly queuedBytes: number;
  readonly rubbish: number;
  readonly state: 'preparing' | 'ready' | 'retiring';
}

export interface BusStats extends Readonly<BusCounters> {
  readonly clients: number;
  readonly sessions: number;
  readonly pending: number;
  readonly waiting: number;
  readonly queuedToClientsBytes: number;
  readonly workers: readonly WorkerStats[];
}

export function newCounters(): BusCounters {
  return {
    messagesFromClients: 0,
    messagesFromWorkers: 0,
    bytesFromClients: 0,
    bytesFromWorkers: 0,
    bytesToClients: 0,
    bytesToWorkers: 0,
    clientsConnected: 0,
    clientsClosed: 0,
    workersAdded: 0,
    workersRemoved: 0,
    errorsAnswered: 0,
    malformedFromClients: 0,
    oversizeFromClients: 0,
    unroutableFromClients: 0,
    rubbishFromWorkers: 0,
    oversizeFromWorkers: 0,
    repliesDropped: 0,
    notificationsDropped: 0,
    answersDropped: 0,
    sessionsOpened: 0,
    sessionsLost: 0,
    held: 0,
    rewritten: 0,
    pauses: 0,
    closedForBackpressure: 0,
  };
}
