// Serves what the other side calls: many at a time but not too many, and none while nobody reads the answers.

import { INTERNAL_ERROR, RpcError, toError, toWireError, type WireError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import type { Line } from '../ndjson/pieces.js';
import { encodeError, encodeResult } from './encode.js';
import { ServedCall, type BatchSlot, type IncomingCall } from './incoming-call.js';
import { METHOD_NOT_FOUND, REQUEST_CANCELLED, type JsonRpcId, type RawId } from './message.js';

/** Calls being served at the same time; more wait, and in the end are not read. */
export const MAX_CONCURRENT_CALLS = 1024;

/** What a call that waits takes besides its line: a line of two bytes must not count as nothing. */
const WAITING_OVERHEAD_BYTES = 256;

/** The result, or a promise of it. What it throws is answered if it is an RpcError, else logged and answered -32603. */
export type CallHandler = (call: IncomingCall) => unknown;

export interface CallServerOptions {
  readonly onRequest: CallHandler | undefined;
  readonly onNotification: CallHandler | undefined;
  readonly maxConcurrent: number;
  readonly send: (line: Line) => void;
  /** Whether answers pile up: then no request is started, for it would only add to them. */
  readonly isCongested: () => boolean;
  /** Called whenever a call has ended or has left the waiting line. */
  readonly onProgress: () => void;
  readonly log: Log | undefined;
}

/** An answer that needs no handler waits its turn like a call: garbage must not fill memory with its error replies. */
export interface FixedReply {
  readonly reply: Line;
  readonly bytes: number;
  readonly slot?: BatchSlot | undefined;
}

export class CallServer {
  readonly #options: CallServerOptions;
  readonly #serving = new Set<ServedCall>();
  #waiting: (ServedCall | FixedReply)[] = [];
  #next = 0;
  #waitingBytes = 0;
  #pumping = false;
  #stopped = false;

  constructor(options: CallServerOptions) {
    this.#options = options;
  }

  /** Calls whose answer is still to come. */
  get size(): number {
    return this.#stopped ? 0 : this.#serving.size + this.#waiting.length - this.#next;
  }

  /** What the calls that wait take, roughly. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Starts the item now, or as soon as it may; in order either way. */
  offer(item: ServedCall | FixedReply): void {
    if (this.#stopped) return;
    if (this.#next === this.#waiting.length && this.#mayStart(item)) {
      this.#start(item);
      return;
    }
    this.#waiting.push(item);
    this.#waitingBytes += item.bytes + WAITING_OVERHEAD_BYTES;
  }

  /** Starts what may be started. To be called when congestion ends. */
  pump(): void {
    if (this.#pumping) return; // a handler that ends at once comes back here
    this.#pumping = true;
    for (let item = this.#waiting[this.#next]; item !== undefined; item = this.#waiting[this.#next]) {
      if (!this.#mayStart(item)) break;
      this.#next += 1;
      this.#waitingBytes -= item.bytes + WAITING_OVERHEAD_BYTES;
      this.#start(item);
    }
    this.#pumping = false;
    if (this.#next === this.#waiting.length || this.#next > this.#options.maxConcurrent) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    this.#options.onProgress();
  }

  /** The caller does not want it any more. Its handler is told; an answer is still due, and comes from it. */
  cancel(id: JsonRpcId, rawId: RawId): void {
    const reason = new RpcError(REQUEST_CANCELLED, 'Request cancelled');
    for (const call of this.#serving) if (isSameId(call, id, rawId)) call.abort(reason);
    for (let i = this.#next; i < this.#waiting.length; i++) {
      const item = this.#waiting[i];
      if (item instanceof ServedCall && isSameId(item, id, rawId)) item.abort(reason);
    }
  }

  /** Nothing is served or answered any more; what is being served learns why. */
  stop(reason: Error): void {
    this.#stopped = true;
    this.#waiting = [];
    this.#next = this.#waitingBytes = 0;
    for (const call of this.#serving) call.abort(reason);
  }

  #mayStart(item: ServedCall | FixedReply): boolean {
    if (this.#serving.size >= this.#options.maxConcurrent) return false;
    return (item instanceof ServedCall && item.rawId === undefined) || !this.#options.isCongested();
  }

  #start(item: ServedCall | FixedReply): void {
    if (!(item instanceof ServedCall)) {
      this.#reply(item.slot, item.reply);
      return;
    }
    let result: unknown;
    try {
      // Called off while it waited: it never starts.
      if (item.abortReason !== undefined) throw item.abortReason;
      result = this.#handle(item);
    } catch (thrown) {
      this.#fail(item, thrown);
      return;
    }
    if (!isPromise(result)) {
      this.#answer(item, result);
      return;
    }
    this.#serving.add(item);
    void this.#settle(item, result);
  }

  async #settle(call: ServedCall, result: PromiseLike<unknown>): Promise<void> {
    try {
      this.#answer(call, await result);
    } catch (thrown) {
      this.#fail(call, thrown);
    }
    this.#serving.delete(call);
    if (this.#next < this.#waiting.length) this.pump();
    else this.#options.onProgress();
  }

  #handle(call: ServedCall): unknown {
    const { onRequest, onNotification } = this.#options;
    if (call.rawId === undefined) return onNotification?.(call);
    if (onRequest !== undefined) return onRequest(call);
    throw new RpcError(METHOD_NOT_FOUND, 'Method not found', { data: { method: call.method } });
  }

  #answer(call: ServedCall, result: unknown): void {
    if (call.rawId === undefined || this.#stopped) return call.tellReplied();
    let reply: Line;
    try {
      reply = encodeResult(call.rawId, result);
    } catch (thrown) {
      this.#options.log?.error('a result could not be put into JSON', {
        method: call.method,
        error: toError(thrown).stack,
      });
      reply = encodeError(call.rawId, { code: INTERNAL_ERROR, message: 'Internal error' });
    }
    this.#reply(call.slot, reply, call);
  }

  #fail(call: ServedCall, thrown: unknown): void {
    if (this.#stopped) return call.tellReplied(); // it failed because we are gone: nobody to tell
    const { abortReason } = call;
    // However the handler chose to fail after the caller called it off, that is why.
    const reason = abortReason ?? thrown;
    if (!(reason instanceof RpcError)) {
      const facts = { method: call.method, error: toError(thrown).stack };
      this.#options.log?.error('a handler failed', facts);
    } else if (call.rawId === undefined) {
      this.#options.log?.debug('a notification failed', { method: call.method, error: reason.message });
    }
    if (call.rawId === undefined) return call.tellReplied();
    this.#reply(call.slot, this.#encodeFailure(call.rawId, toWireError(reason)), call);
  }

  #encodeFailure(rawId: RawId, error: WireError): Line {
    if (!Number.isInteger(error.code)) {
      return encodeError(rawId, { code: INTERNAL_ERROR, message: 'Internal error' });
    }
    try {
      return encodeError(rawId, error);
    } catch (thrown) {
      this.#options.log?.error('the data of an error could not be put into JSON', {
        code: error.code,
        error: toError(thrown).stack,
      });
      return encodeError(rawId, { code: error.code, message: error.message });
    }
  }

  #reply(slot: BatchSlot | undefined, reply: Line, call?: ServedCall): void {
    if (slot !== undefined) return slot.fill(reply, call && (() => call.tellReplied()));
    this.#options.send(reply);
    call?.tellReplied();
  }
}

/** By value where a double can tell ids apart, by spelling where it cannot. */
function isSameId(call: ServedCall, id: JsonRpcId, rawId: RawId): boolean {
  if (call.rawId === undefined) return false;
  if (typeof id === 'number' && !Number.isSafeInteger(id)) return call.rawId === rawId;
  return call.id === id;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  if (value instanceof Promise) return true;
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
