// One request or notification from the other side while it is being served, and the batch it may belong to.

import { newAbort } from '../../base/abort.js';
import { sizeOf, type Line } from '../ndjson/pieces.js';
import { encodeBatch } from './encode.js';
import type {
  IncomingNotification,
  IncomingRequest,
  JsonRpcId,
  JsonRpcParams,
  RawId,
  Unchecked,
} from './message.js';

/** What a handler is told about the call it serves. */
export interface IncomingCall {
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  /** Undefined for a notification: nobody waits for an answer. */
  readonly id: JsonRpcId | undefined;
  /** The whole message as it was read, for what a protocol puts beside method and params. */
  readonly body: Unchecked;
  /** Aborts when the caller calls it off, or the connection closes. */
  readonly signal: AbortSignal;
  /**
   * Runs `then` as soon as the answer is queued, so that whatever it sends comes behind. The answer of a batch is that
   * of all its members. After a notification it runs when the handler is done; when the connection ends first, perhaps
   * not at all.
   */
  afterReply(then: () => void): void;
}

export class ServedCall implements IncomingCall {
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  readonly id: JsonRpcId | undefined;
  readonly rawId: RawId | undefined;
  readonly body: Unchecked;
  /** Of the line it came in: what it counts for while it waits. */
  readonly bytes: number;
  readonly slot: BatchSlot | undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;
  #afterReply: (() => void)[] | undefined;

  constructor(message: IncomingRequest | IncomingNotification, bytes: number, slot: BatchSlot | undefined) {
    this.method = message.method;
    this.params = message.params;
    this.id = message.kind === 'request' ? message.id : undefined;
    this.rawId = message.kind === 'request' ? message.rawId : undefined;
    this.body = message.body;
    this.bytes = bytes;
    this.slot = slot;
  }

  /** Made on demand: most handlers are done before anyone could ask for it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = newAbort();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get abortReason(): Error | undefined {
    return this.#abortReason;
  }

  afterReply(then: () => void): void {
    this.#afterReply ??= [];
    this.#afterReply.push(then);
  }

  /** The answer is queued, or there will be none. */
  tellReplied(): void {
    const waiting = this.#afterReply;
    this.#afterReply = undefined;
    for (const then of waiting ?? []) then();
  }

  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }
}

/** Where one reply of a batch goes. */
export interface BatchSlot {
  /** `onSent` is called when the answer of the whole batch is queued. */
  fill(reply: Line, onSent?: () => void): void;
}

/** The replies of one batch, held until the last of them is there, then sent in the order of their requests. */
export class ReplyBatch {
  readonly #replies: Line[] = [];
  readonly #onSent: (() => void)[] = [];
  readonly #sink: BatchSink;
  #missing = 0;
  #held = 0;

  constructor(sink: BatchSink) {
    this.#sink = sink;
  }

  /** To be called for all members before the first slot is filled. */
  reserve(): BatchSlot {
    const index = this.#missing;
    this.#missing += 1;
    return { fill: (reply, onSent) => this.#fill(index, reply, onSent) };
  }

  #fill(index: number, reply: Line, onSent: (() => void) | undefined): void {
    const bytes = sizeOf(reply);
    this.#replies[index] = reply;
    this.#missing -= 1;
    this.#held += bytes;
    this.#sink.hold(bytes);
    if (onSent !== undefined) this.#onSent.push(onSent);
    if (this.#missing > 0) return;
    this.#sink.hold(-this.#held);
    this.#sink.send(encodeBatch(this.#replies));
    for (const tell of this.#onSent) tell();
  }
}

export interface BatchSink {
  readonly send: (line: Line) => void;
  /** So many more bytes are held back, or fewer. */
  readonly hold: (bytes: number) => void;
}
