// The requests we make: one by one or in batches, each settled once, by its answer or by why there will be none.

import { LocalError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import type { Line } from '../ndjson/pieces.js';
import { type Beside, encodeBatch, encodeNotification, encodeRequest } from './encode.js';
import { CANCEL_METHOD, type Unchecked } from './message.js';
import { PendingRequests, type RequestOptions } from './pending-requests.js';

export interface BatchCall {
  readonly method: string;
  readonly params?: object | undefined;
  readonly beside?: Beside | undefined;
}

export interface OutgoingCallsOptions {
  readonly send: (line: Line) => void;
  readonly maxBatch: number;
  readonly maxPending: number | undefined;
  readonly log: Log | undefined;
}

export class OutgoingCalls {
  readonly #send: (line: Line) => void;
  readonly #maxBatch: number;
  readonly #log: Log | undefined;
  readonly #pending: PendingRequests;
  #refusal: Error | undefined;

  constructor(options: OutgoingCallsOptions) {
    this.#send = options.send;
    this.#maxBatch = options.maxBatch;
    this.#log = options.log;
    this.#pending = new PendingRequests({
      onCancel: (id) => this.#tellCancelled(id),
      ...(options.maxPending !== undefined && { max: options.maxPending }),
    });
  }

  /** Requests whose answer is still to come. */
  get size(): number {
    return this.#pending.size;
  }

  /** Why no request can be answered any more. */
  get refusal(): Error | undefined {
    return this.#refusal;
  }

  request(call: BatchCall, options: RequestOptions | undefined): Promise<unknown> {
    return this.#ask(call, options, this.#send);
  }

  /** One line for as many as the cap allows; one promise for each. */
  requestBatch(calls: readonly BatchCall[], options: RequestOptions | undefined): Promise<unknown>[] {
    const answers: Promise<unknown>[] = [];
    const size = Math.max(1, this.#maxBatch);
    for (let at = 0; at < calls.length; at += size)
      answers.push(...this.#askAll(calls.slice(at, at + size), options));
    return answers;
  }

  onResponse(body: Unchecked): void {
    if (this.#pending.settle(body)) return;
    // An error for no request in particular is the other side's complaint about a line of ours.
    if (body.id === null)
      this.#log?.warn('the other side did not understand a message', { error: body.error });
    else this.#log?.debug('an answer came to no open request', { id: body.id });
  }

  onBadResponse(body: Unchecked): void {
    this.#log?.warn('a response has not the shape of one', { id: body.id });
    this.#pending.reject(
      body.id,
      new LocalError('bad_response', 'the answer has not the shape of a response'),
    );
  }

  /** No more requests from here on; the first reason counts. Those that are out may still be answered. */
  refuse(reason: Error): void {
    this.#refusal ??= reason;
  }

  /** Nothing will be answered any more. */
  rejectAll(reason: Error): void {
    this.refuse(reason);
    this.#pending.rejectAll(reason);
  }

  #askAll(calls: readonly BatchCall[], options: RequestOptions | undefined): Promise<unknown>[] {
    const lines = new Map<number, Line>();
    const answers = calls.map((call) => this.#ask(call, options, (line, id) => lines.set(id, line)));
    try {
      if (lines.size > 0) this.#send(encodeBatch([...lines.values()]));
    } catch (thrown) {
      for (const id of lines.keys()) this.#pending.reject(id, thrown as Error);
    }
    return answers;
  }

  /** Gives the line of a request to `send`; not if it is refused, so that nothing is sent that nobody waits for. */
  #ask(
    { method, params, beside }: BatchCall,
    options: RequestOptions | undefined,
    send: (line: Line, id: number) => void,
  ): Promise<unknown> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal);
    return new Promise((resolve, reject) => {
      const id = this.#pending.open({ resolve, reject }, options);
      try {
        send(encodeRequest(id, method, params, beside), id);
      } catch (thrown) {
        this.#pending.reject(id, thrown as Error);
      }
    });
  }

  #tellCancelled(id: number): void {
    try {
      this.#send(encodeNotification(CANCEL_METHOD, { id }));
    } catch {
      // Nobody reads: the other side would not have learnt it anyway.
    }
  }
}
