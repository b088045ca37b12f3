// The events of a resumable session, numbered, and kept until its client says that it has them.
//
// When too much is kept the processes wait: nothing is dropped, and memory stays flat.

import type { EventSink } from '../exec/output-stream.js';

/** Kept of one session. Past it nobody adds: each stream that is writing already may be over by one event. */
export const JOURNAL_BYTES = 4 * 1024 * 1024;
/** What an event takes besides its bytes: a thousand empty ones are not nothing. */
const EVENT_OVERHEAD_BYTES = 128;
/** Requests that wait for events of one session at the same time. */
export const MAX_POLLS = 16;

/** The way to a client: a connection. */
export interface Outlet {
  /** The frame is kept unchanged. False when the client should take what it was sent before there is more. */
  readonly send: (frame: Uint8Array) => boolean;
  /** Settles when it has, or rejects when it is gone. */
  readonly drained: () => Promise<void>;
}

export class Journal {
  readonly #maxBytes: number;
  /** Those after `#acked`, the oldest first; what lies before `#head` is gone. */
  #kept: Buffer[] = [];
  #head = 0;
  #bytes = 0;
  #acked = 0;
  #last = 0;
  #sent = 0;
  #outlet: Outlet | undefined;
  #draining = false;
  #finishing = false;
  #waitingForRoom: (() => void)[] = [];
  readonly #polls = new Set<() => void>();

  constructor(maxBytes: number = JOURNAL_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Where the processes of the session send their events. */
  readonly sink: EventSink = (frame) => {
    if (this.#finishing && this.#outlet === undefined) return undefined; // nobody will ever ask for it
    this.#last += 1;
    const numbered = numberFrame(frame, this.#last);
    this.#kept.push(numbered);
    this.#bytes += sizeOf(numbered);
    for (const wake of this.#polls) wake();
    this.#pump();
    if (this.#bytes <= this.#maxBytes) return undefined;
    return new Promise((resolve) => this.#waitingForRoom.push(resolve));
  };

  /** The number of the latest event. */
  get last(): number {
    return this.#last;
  }

  /** Events up to this one are with the client, and gone from here. */
  get acked(): number {
    return this.#acked;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether all after this one can be given: it is neither forgotten nor yet to come. */
  reaches(seq: number): boolean {
    return seq >= this.#acked && seq <= this.#last;
  }

  /** The client has everything up to `seq`. What it says of events that were never sent is not believed. */
  ack(seq: number): void {
    const upTo = Math.min(seq, this.#last);
    for (; this.#acked < upTo; this.#acked += 1) {
      const frame = this.#kept[this.#head];
      if (frame !== undefined) this.#bytes -= sizeOf(frame);
      this.#head += 1;
    }
    this.#compact();
    if (this.#bytes > this.#maxBytes / 2 || this.#waitingForRoom.length === 0) return;
    for (const resolve of this.#waitingForRoom.splice(0)) resolve();
  }

  /** From here on events go there, beginning with the one after `seq`. */
  attach(outlet: Outlet, seq: number): void {
    this.#outlet = outlet;
    this.#sent = Math.max(seq, this.#acked);
    this.#draining = false;
    this.#pump();
  }

  /** Nobody is there: events are kept. Not if another connection has taken the place of `outlet` by now. */
  detach(outlet?: Outlet): void {
    if (outlet !== undefined && this.#outlet !== outlet) return;
    this.#outlet = undefined;
    if (this.#finishing) this.ack(this.#last);
  }

  /** The session is ending and cannot be resumed: an event that is sent, or that nobody is there for, is done with. */
  finish(): void {
    this.#finishing = true;
    this.ack(this.#outlet === undefined ? this.#last : this.#sent);
    for (const wake of this.#polls) wake();
  }

  /** The events after `seq`, at least one if there is one, and not many more bytes than `maxBytes`. */
  after(seq: number, maxBytes: number, maxEvents: number): readonly Buffer[] {
    const from = this.#head + Math.max(seq, this.#acked) - this.#acked;
    let end = from;
    let bytes = 0;
    for (let frame = this.#kept[end]; frame !== undefined; frame = this.#kept[end]) {
      bytes += frame.length;
      if (end > from && (bytes > maxBytes || end - from >= maxEvents)) break;
      end += 1;
    }
    return this.#kept.slice(from, end);
  }

  /** Resolves when there is an event after `seq`, or the time or the session is over. Undefined when too many wait. */
  next(seq: number, waitMs: number, signal: AbortSignal): Promise<void> | undefined {
    if (this.#last > seq || this.#finishing || waitMs <= 0 || signal.aborted) return Promise.resolve();
    if (this.#polls.size >= MAX_POLLS) return undefined;
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#polls.delete(wake);
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      signal.addEventListener('abort', wake, { once: true });
      this.#polls.add(wake);
    });
  }

  /** As much as the client takes; the rest stays here, and is not copied to its queue. */
  #pump(): void {
    const outlet = this.#outlet;
    if (outlet === undefined || this.#draining) return;
    while (this.#sent < this.#last) {
      const frame = this.#kept[this.#head + this.#sent - this.#acked];
      if (frame === undefined) return;
      this.#sent += 1;
      const roomy = outlet.send(frame);
      if (this.#finishing) this.ack(this.#sent);
      if (!roomy) {
        this.#draining = true;
        void this.#pumpWhenDrained(outlet);
        return;
      }
    }
  }

  async #pumpWhenDrained(outlet: Outlet): Promise<void> {
    try {
      await outlet.drained();
    } catch {
      this.detach(outlet);
    }
    if (this.#outlet !== outlet) return;
    this.#draining = false;
    this.#pump();
  }

  #compact(): void {
    if (this.#head === this.#kept.length || this.#head > COMPACT_AT) {
      this.#kept = this.#kept.slice(this.#head);
      this.#head = 0;
    }
  }
}

const COMPACT_AT = 1024;
const PARAMS = Buffer.from('"params":{');

/** A copy, as every keeper of a frame needs one, with the number as the first of its params. */
function numberFrame(frame: Uint8Array, seq: number): Buffer {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length);
  const at = bytes.indexOf(PARAMS) + PARAMS.length;
  const field = `"event_seq":${seq},`;
  const numbered = Buffer.allocUnsafe(bytes.length + field.length);
  bytes.copy(numbered, 0, 0, at);
  numbered.write(field, at, 'latin1');
  bytes.copy(numbered, at + field.length, at);
  return numbered;
}

function sizeOf(frame: Uint8Array): number {
  return frame.length + EVENT_OVERHEAD_BYTES;
}
