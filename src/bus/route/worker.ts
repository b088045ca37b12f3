// One worker: its two pipes, its load, and who waits for it to read.

import { createHash } from 'node:crypto';
import { LineReader, type MessageSink } from '../flow/line-reader.js';
import { openWritable } from '../flow/open-writable.js';
import { Output, type OutputOwner } from '../flow/output.js';
import type { Slab } from '../flow/slab.js';
import { Source, type SourceSink } from '../flow/source.js';
import { type Client, WORKER_FULL } from './client.js';
import type { Core } from './core.js';
import type { Pool } from './pool.js';
import type { Session } from './sessions.js';
import type { WorkerOptions, WorkerStream } from './settings.js';

/**
 * Queued for a worker, past which those who feed it are not read. It is far less than the configuration allows: what is
 * queued here is in front of everybody else's next message, while what a client still has in its own pipe is not.
 */
export const BUSY_WORKER_BYTES = 256 * 1024;

/** Sessions of clients that have left, remembered for each worker; the oldest is forgotten first. */
export const MAX_ORPHANED_SESSIONS = 1024;

/** The longest id that is remembered as it is; of a longer one it is a digest. */
export const MAX_ORPHANED_ID_BYTES = 128;

export interface WorkerRouting {
  fromWorker(worker: Worker, slab: Slab, start: number, end: number): void;
  workerTooLong(worker: Worker, slab: Slab, start: number, end: number): void;
  workerSkipped(worker: Worker, tail: Buffer): void;
}

export class Worker implements SourceSink, MessageSink, OutputOwner {
  readonly number: number;
  readonly name: string;
  readonly pool: Pool;
  readonly output: Output;
  state: 'preparing' | 'ready' | 'retiring' | 'gone';
  load = 0;
  /** What it has asked of clients and has no answer to. */
  asking = 0;
  rubbish = 0;
  readonly sessions = new Set<Session>();
  /** Sessions it had of clients that have left: when another client has opened one of that name elsewhere, it is not this one's. */
  readonly #orphans = new Set<string>();
  readonly ended: Promise<void>;
  readonly deaf: Promise<void>;
  /** The client that does not read, and for which this worker is not read either. */
  stoppedFor: Client | undefined;
  /** Whether others wait for this worker has been asked since its last read. */
  pressureChecked = false;
  /** Of an answer too long to pass: it is known already whom it was for. */
  skippedAnswered = false;
  readonly onIdle: (() => void)[] = [];
  readonly #core: Core;
  readonly #routing: WorkerRouting;
  readonly #source: Source;
  readonly #reader: LineReader;
  readonly #sink: ReturnType<typeof openWritable>;
  readonly #feeders = new Set<Client>();
  #tellEnded = (): void => {};
  #tellDeaf = (): void => {};

  constructor(
    core: Core,
    routing: WorkerRouting,
    pool: Pool,
    link: WorkerStream,
    { name, admitted = true }: WorkerOptions,
  ) {
    this.#core = core;
    this.#routing = routing;
    this.number = core.newNumber();
    this.name = name;
    this.pool = pool;
    this.state = admitted ? 'ready' : 'preparing';
    this.ended = new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
    this.deaf = new Promise((resolve) => {
      this.#tellDeaf = resolve;
    });
    this.#sink = openWritable(link.stdin);
    this.#sink.on('error', () => this.#tellDeaf());
    this.output = new Output(this.#sink, core.flusher, this);
    this.#reader = new LineReader(this, core.settings.limits.maxInputBufferBytes);
    this.#source = new Source(link.stdout, this);
  }

  get isBusy(): boolean {
    return this.output.queuedBytes > BUSY_WORKER_BYTES;
  }

  /** The client is not read until this worker has taken most of what is queued for it. */
  makeWait(client: Client): void {
    if (client.fullWorkers.has(this)) return;
    client.fullWorkers.add(this);
    this.#feeders.add(client);
    this.output.watched = true;
    client.pause(WORKER_FULL);
  }

  /** The owner of a session here has left. */
  orphan(session: Session): void {
    this.#orphans.add(nameOf(session));
    if (this.#orphans.size <= MAX_ORPHANED_SESSIONS) return;
    for (const oldest of this.#orphans) {
      this.#orphans.delete(oldest);
      return;
    }
  }

  /** It has been given the session, or given it anew. */
  adopt(session: Session): void {
    this.sessions.add(session);
    if (this.#orphans.size > 0) this.#orphans.delete(nameOf(session));
  }

  /** Whether what it says about this session is meant for who owns it now. */
  speaksFor(session: Session): boolean {
    if (session.worker === this || this.#orphans.size === 0) return true;
    return !this.#orphans.has(nameOf(session));
  }

  send(line: Buffer): void {
    if (this.state === 'gone') return;
    this.#core.batch.commit();
    this.output.append(line, 0, line.length, undefined);
    this.#core.flusher.plan();
  }

  stopReading(): void {
    this.#source.pause();
  }

  readOn(): void {
    this.stoppedFor?.stopped.delete(this);
    this.stoppedFor = undefined;
    this.#source.resume();
  }

  setMaxBytes(max: number): void {
    this.#reader.maxBytes = max;
  }

  lookIdle(): void {
    if (this.load === 0 && this.onIdle.length > 0) for (const done of this.onIdle.splice(0)) done();
  }

  destroy(): void {
    this.state = 'gone';
    this.#core.counters.bytesToWorkers += this.output.totalBytes;
    this.#reader.close();
    this.output.close();
    this.#source.destroy();
    this.#sink.destroy();
    this.#letFeedersGo();
    this.#tellEnded();
  }

  data(slab: Slab, length: number): void {
    this.#core.counters.bytesFromWorkers += length;
    this.pressureChecked = false;
    this.#reader.push(slab, length);
    this.#core.sourceDone();
  }

  message(slab: Slab, start: number, end: number): boolean {
    this.#routing.fromWorker(this, slab, start, end);
    return true;
  }

  commit(): void {
    this.#core.batch.commit();
  }

  tooLong(slab: Slab, start: number, end: number): boolean {
    this.#routing.workerTooLong(this, slab, start, end);
    return true;
  }

  skipped(tail: Buffer): void {
    this.#routing.workerSkipped(this, tail);
  }

  end(): void {
    this.#tellEnded();
  }

  drained(): void {
    if (this.output.queuedBytes <= BUSY_WORKER_BYTES / 2) {
      this.#letFeedersGo();
      for (const client of this.pool.holders) this.#core.retries.add(client.retryHeld);
      this.#core.sourceDone();
    } else this.output.watched = true;
    this.#core.lookQuiet();
  }

  broken(error: Error): void {
    this.#core.hooks.log.debug('worker pipe', { worker: this.name, err: error });
  }

  #letFeedersGo(): void {
    for (const client of this.#feeders) {
      client.fullWorkers.delete(this);
      if (client.fullWorkers.size === 0) client.resume(WORKER_FULL);
    }
    this.#feeders.clear();
  }
}

/** What a session of a client that has left is remembered by. A digest is longer than any id that is kept as it is. */
export function nameOf({ id }: Pick<Session, 'id'>): string {
  if (id.length <= MAX_ORPHANED_ID_BYTES) return id.toString('latin1');
  return createHash('sha512')
    .update(id)
    .digest('hex')
    .padEnd(MAX_ORPHANED_ID_BYTES + 1, '.');
}
