// One client: its two streams, what it waits for, and why it is not read just now.

import { Duplex, type Readable, type Writable } from 'node:stream';
import { FrameReader } from '../flow/frame-reader.js';
import { LineReader, type MessageReader, type MessageSink } from '../flow/line-reader.js';
import { openWritable } from '../flow/open-writable.js';
import { Output, type OutputOwner } from '../flow/output.js';
import type { Slab } from '../flow/slab.js';
import { Source, type SourceSink } from '../flow/source.js';
import type { Core } from './core.js';
import { HeldLines } from './held.js';
import type { Asker } from './pending.js';
import type { Session } from './sessions.js';
import type { BusClientHandle, ClientOptions, ClientStream } from './settings.js';
import type { Worker } from './worker.js';

/** Read from one client before all others have had their turn. */
export const TURN_BYTES = 256 * 1024;
/** For how long a client that is told why it is closed may still take what is queued for it. */
export const CLOSE_GRACE_MS = 2000;

/** Why a client is not read. */
export const WORKER_FULL = 1;
export const DOES_NOT_READ = 2;
const TURN_OVER = 4;
export const HOLDS = 8;

/** What is done with messages and ends: the routing, which knows the clients but is not known by them. */
export interface ClientRouting {
  fromClient(client: Client, slab: Slab, start: number, end: number): boolean;
  clientTooLong(client: Client, slab: Slab, start: number, end: number): void;
  clientDrained(client: Client): void;
  /** More than half of what may wait for it does, after words of the bus's own. */
  clientFilling(client: Client): void;
  clientGone(client: Client): void;
  retryHeld(client: Client): void;
  retryAsks(client: Client): void;
}

export class Client implements BusClientHandle, SourceSink, MessageSink, OutputOwner, Asker {
  readonly number: number;
  readonly name: string;
  readonly options: ClientOptions;
  readonly output: Output;
  /** As the asker of a plain request it stands for itself. */
  readonly client: Client = this;
  readonly own = undefined;
  readonly detour = undefined;
  readonly rawId = undefined;
  readonly ended: Promise<void>;
  readonly closed: Promise<string>;
  authenticated: boolean;
  open = true;
  /** Requests under way. */
  pending = 0;
  /** Lines that wait in a pool without a worker. */
  waiting = 0;
  /** Requests of workers that it has not answered. */
  asked = 0;
  readonly held = new HeldLines<Client, Worker>();
  heldTimer: NodeJS.Timeout | undefined;
  /** Requests of workers that wait until it has answered one with the same id. */
  readonly heldAsks = new HeldLines<Worker, Worker>();
  heldAsksTimer: NodeJS.Timeout | undefined;
  readonly sessions = new Set<Session>();
  /** Ids of this client that another stands in for at the worker, and that other. */
  readonly rewritten = new Map<string, Buffer>();
  /** Workers that are not read, because this client does not read. */
  readonly stopped = new Set<Worker>();
  pressureTimer: NodeJS.Timeout | undefined;
  /** Workers whose queues are full, and that it feeds. */
  readonly fullWorkers = new Set<Worker>();
  /** Tries again what is held. */
  readonly retryHeld = (): void => this.#routing.retryHeld(this);
  readonly retryAsks = (): void => this.#routing.retryAsks(this);
  readonly #core: Core;
  readonly #routing: ClientRouting;
  readonly #source: Source;
  readonly #reader: MessageReader;
  readonly #sink: Writable;
  #pauses = 0;
  #turnBytes = 0;
  #inputEnded = false;
  /** All is answered, and waits to be read. */
  #lastTimer: NodeJS.Timeout | undefined;
  #destroyed = false;
  #tellEnded = (): void => {};
  #tellClosed = (_why: string): void => {};

  constructor(core: Core, routing: ClientRouting, link: ClientStream, options: ClientOptions) {
    this.#core = core;
    this.#routing = routing;
    this.number = core.newNumber();
    this.name = options.name;
    this.options = options;
    this.authenticated = options.checkToken === undefined;
    this.ended = new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.#tellClosed = resolve;
    });
    const { input, output } = endsOf(link);
    this.#sink = openWritable(output);
    this.output = new Output(this.#sink, core.flusher, this, options.framing === 'length');
    const max = core.settings.limits.maxInputBufferBytes;
    this.#reader = options.framing === 'length' ? new FrameReader(this, max) : new LineReader(this, max);
    this.#source = new Source(input, this);
  }

  get inputEnded(): boolean {
    return this.#inputEnded;
  }

  /** A message of the bus itself, behind all that is gathered for this client. */
  send(line: Buffer): void {
    if (!this.open) return;
    this.#core.batch.commit();
    if (this.output.framed) this.output.appendFrame(line, 0, line.length - 1, undefined);
    else this.output.append(line, 0, line.length, undefined);
    this.#core.flusher.plan();
    if (this.output.queuedBytes * 2 > this.#core.settings.limits.maxOutputQueueBytes)
      this.#routing.clientFilling(this);
  }

  pause(reason: number): void {
    if ((this.#pauses & reason) !== 0) return;
    if (this.#pauses === 0) {
      this.#core.counters.pauses += 1;
      this.#source.pause();
    }
    this.#pauses |= reason;
  }

  resume(reason: number): void {
    if ((this.#pauses & reason) === 0) return;
    this.#pauses &= ~reason;
    if (this.#pauses === 0) this.#source.resume();
  }

  setMaxBytes(max: number): void {
    this.#reader.maxBytes = max;
  }

  /** A line of this client for that worker is held back: one that comes after it may not overtake it. */
  mustFollowHeld(worker: Worker): boolean {
    return this.held.some(({ to, pool }) => (to === undefined ? pool === worker.pool.id : to === worker));
  }

  /** It sends no more: what is under way is still answered, and read at its own pace, like that of anybody else. */
  finishWhenDone(): void {
    if (!this.#inputEnded || !this.open || this.#lastTimer !== undefined) return;
    if (this.pending > 0 || this.waiting > 0 || this.held.length > 0) return;
    const finish = (): void => this.close('the client has ended');
    this.#core.batch.commit();
    if (this.output.queuedBytes === 0) return finish();
    this.#core.flusher.plan();
    this.#lastTimer = setTimeout(finish, this.#core.settings.limits.backpressureTimeoutMs);
    void this.output.empty().then(finish);
  }

  /** No more is taken from it; what is queued is written first. */
  close(reason: string): void {
    this.#core.batch.commit();
    if (!this.#leave(reason)) return;
    this.#core.flusher.plan();
    void this.#endThenDestroy(reason);
  }

  async #endThenDestroy(reason: string): Promise<void> {
    const timer = setTimeout(() => this.#destroy(reason), CLOSE_GRACE_MS);
    await this.output.end();
    // Closing with bytes unread may throw away what the other side has not read yet: let it close first.
    if (!this.#inputEnded) await this.ended;
    clearTimeout(timer);
    this.#destroy(reason);
  }

  /** At once: what is queued is lost with it. */
  drop(reason: string): void {
    if (this.#leave(reason)) this.#destroy(reason);
  }

  // What its streams tell.

  data(slab: Slab, length: number): void {
    if (!this.open) return;
    this.#core.counters.bytesFromClients += length;
    this.#reader.push(slab, length);
    this.#core.sourceDone();
    this.#turnBytes += length;
    if (this.#turnBytes < TURN_BYTES) return;
    this.pause(TURN_OVER);
    setImmediate(() => {
      this.#turnBytes = 0;
      this.resume(TURN_OVER);
    });
  }

  message(slab: Slab, start: number, end: number): boolean {
    return this.#routing.fromClient(this, slab, start, end);
  }

  commit(): void {
    this.#core.batch.commit();
  }

  tooLong(slab: Slab, start: number, end: number): boolean {
    this.#routing.clientTooLong(this, slab, start, end);
    return false;
  }

  skipped(): void {}

  end(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    if (this.open && this.#reader.heldBytes > 0) {
      this.#core.hooks.log.warn('the client ended within a message', { client: this.name });
    }
    this.#tellEnded();
    this.finishWhenDone();
  }

  drained(): void {
    this.#routing.clientDrained(this);
    this.#core.lookQuiet();
  }

  broken(error: Error): void {
    this.drop(`connection lost: ${error.message}`);
  }

  #leave(reason: string): boolean {
    if (!this.open) return false;
    this.open = false;
    this.#core.counters.clientsClosed += 1;
    this.#core.counters.bytesToClients += this.output.totalBytes;
    this.#core.clients.delete(this);
    this.#core.hooks.log.debug('client closed', { client: this.name, reason });
    clearTimeout(this.heldTimer);
    clearTimeout(this.heldAsksTimer);
    clearTimeout(this.pressureTimer);
    clearTimeout(this.#lastTimer);
    this.#reader.close();
    this.#routing.clientGone(this);
    if (this.#pauses !== 0) this.#source.resume(); // to see its end
    return true;
  }

  #destroy(reason: string): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.output.close();
    this.#source.destroy();
    this.#sink.destroy();
    this.#inputEnded = true;
    this.#tellEnded();
    this.#tellClosed(reason);
    this.#core.lookQuiet();
  }
}

function endsOf(link: ClientStream): { input: number | Readable; output: number | Writable } {
  if (!(link instanceof Duplex)) return link as { input: number | Readable; output: number | Writable };
  link.allowHalfOpen = true; // a client that has said all it will say still waits for its answers
  return { input: link, output: link };
}
