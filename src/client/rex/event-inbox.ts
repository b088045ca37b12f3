// The events of a session as they come in: each once and in order, whatever connections they came over, and told of to the
// server when they have been taken.

import type { JsonRpcParams } from '../../wire/jsonrpc/message.js';
import type { ProcessEvents } from './process-events.js';

/** So many bytes of output are taken before the server is told, unless a moment passes first. */
export const ACK_BYTES = 256 * 1024;
/** And so many events, or answers. */
export const ACK_COUNT = 64;

export class EventInbox {
  readonly #events: ProcessEvents;
  #received = 0;
  #told = 0;
  #bytes = 0;

  constructor(events: ProcessEvents) {
    this.#events = events;
  }

  /** The last event that has come. */
  get received(): number {
    return this.#received;
  }

  /** The last one that need not be kept for us; those of a process whose start is not answered yet may be many. */
  get taken(): number {
    return this.#events.withheld ? this.#told : this.#received;
  }

  get isDue(): boolean {
    const news = this.taken - this.#told;
    return news >= ACK_COUNT || (news > 0 && this.#bytes >= ACK_BYTES);
  }

  get isTold(): boolean {
    return this.#told >= this.taken;
  }

  tell(): number {
    this.#told = this.taken;
    this.#bytes = 0;
    return this.#told;
  }

  /** False when one is missing before it: the connection is not to be trusted. */
  receive(method: string, params: JsonRpcParams | undefined): boolean {
    const { event_seq: seq, data } = (params ?? {}) as { event_seq?: unknown; data?: unknown };
    if (typeof seq === 'number') {
      if (seq <= this.#received) return true; // once more: it was under way when the connection broke
      if (seq !== this.#received + 1) return false;
      this.#received = seq;
      if (typeof data === 'string') this.#bytes += data.length;
    }
    this.#events.receive(method, params);
    return true;
  }
}
