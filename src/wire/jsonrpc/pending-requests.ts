// The requests this side has sent and not seen answered: each settles once, whatever happens.

import { MAX_TIMER_MS, TimeoutError } from '../../base/deadline.js';
import { LocalError, RpcError } from '../../base/errors.js';
import type { Beside } from './encode.js';
import { isErrorObject, type Unchecked } from './message.js';

/** Requests waiting for an answer at the same time; the next one is refused. */
export const MAX_PENDING_REQUESTS = 65_536;

export interface RequestOptions {
  /** Calls the request off: it rejects with the signal's reason, and the other side is told. */
  readonly signal?: AbortSignal;
  /** Rejects with a TimeoutError, and tells the other side. No limit when absent: then only the close settles it. */
  readonly timeoutMs?: number;
  /** Under which it goes out, for who numbers requests beyond a connection: then all of them. Else the next one. */
  readonly id?: number;
  /** Goes out beside method and params. */
  readonly beside?: Beside;
}

export interface Answer {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: Error) => void;
}

interface Pending {
  readonly answer: Answer;
  readonly release: (() => void) | undefined;
}

/** The requests that one signal calls off. */
interface Watch {
  readonly ids: Set<number>;
  readonly onAbort: () => void;
}

export class PendingRequests {
  readonly #pending = new Map<number, Pending>();
  readonly #onCancel: (id: number) => void;
  readonly #max: number;
  readonly #watched = new Map<AbortSignal, Watch>();
  #lastId = 0;

  constructor(options: { readonly onCancel: (id: number) => void; readonly max?: number }) {
    this.#onCancel = options.onCancel;
    this.#max = options.max ?? MAX_PENDING_REQUESTS;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Takes the next id for a request that `answer` waits for. Throws when there can be no answer. */
  open(answer: Answer, options: RequestOptions | undefined): number {
    options?.signal?.throwIfAborted();
    if (this.#pending.size >= this.#max) {
      throw new LocalError('too_many_requests', `${this.#max} requests wait for an answer already`);
    }
    const id = options?.id ?? (this.#lastId += 1);
    if (this.#pending.has(id)) throw new LocalError('id_in_use', `request ${id} waits for an answer already`);
    this.#pending.set(id, { answer, release: options === undefined ? undefined : this.#limit(id, options) });
    return id;
  }

  /** Settles the request this answers; false when there is none (it was called off, or never was). */
  settle(response: Unchecked): boolean {
    const pending = this.#take(response.id);
    if (pending === undefined) return false;
    const { error } = response;
    if (error === undefined || error === null) pending.answer.resolve(response.result);
    else if (isErrorObject(error)) {
      pending.answer.reject(new RpcError(error.code, error.message, { data: error.data }));
    }
    return true;
  }

  /** An answer that is no proper response still ends the wait. */
  reject(id: unknown, reason: Error): boolean {
    const pending = this.#take(id);
    pending?.answer.reject(reason);
    return pending !== undefined;
  }

  rejectAll(reason: Error): void {
    for (const id of this.#pending.keys()) this.reject(id, reason);
  }

  #take(id: unknown): Pending | undefined {
    if (typeof id !== 'number') return undefined; // we give out numbers only
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    pending.release?.();
    return pending;
  }

  #cancel(id: number, reason: Error): void {
    if (this.reject(id, reason)) this.#onCancel(id);
  }

  #limit(id: number, options: RequestOptions): (() => void) | undefined {
    const { signal, timeoutMs } = options;
    if (signal === undefined && timeoutMs === undefined) return undefined;
    const forget = signal === undefined ? undefined : this.#watch(signal, id);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => this.#cancel(id, new TimeoutError(timeoutMs)), Math.min(timeoutMs, MAX_TIMER_MS));
    return () => {
      forget?.();
      clearTimeout(timer);
    };
  }

  /** One listener however many requests a signal covers: a batch would bring a thousand, and Node warns at eleven. */
  #watch(signal: AbortSignal, id: number): () => void {
    const watch = this.#watched.get(signal) ?? this.#startWatching(signal);
    watch.ids.add(id);
    return () => {
      watch.ids.delete(id);
      if (watch.ids.size > 0 || this.#watched.get(signal) !== watch) return;
      this.#watched.delete(signal);
      signal.removeEventListener('abort', watch.onAbort);
    };
  }

  #startWatching(signal: AbortSignal): Watch {
    const ids = new Set<number>();
    const onAbort = (): void => {
      for (const id of ids) this.#cancel(id, signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const watch = { ids, onAbort };
    this.#watched.set(signal, watch);
    return watch;
  }
}
