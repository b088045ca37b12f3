// One session on the bus: everything sent through it reaches the same worker.

import type { Handlers, NotificationHandler, RequestHandler } from './handlers.js';

export interface BusRequestOptions {
  /** Calls the request off; the worker that has it is told. */
  readonly signal?: AbortSignal;
  /** Rejects with a TimeoutError, and tells the worker. Waiting for the connection counts. */
  readonly timeoutMs?: number;
  /** The session it belongs to: all of one go to the same worker. */
  readonly sessionId?: string;
  /** For a bus with several pools. */
  readonly pool?: string;
}

export type BusNotifyOptions = Pick<BusRequestOptions, 'sessionId' | 'pool'>;

export interface BusSessionActions {
  request(method: string, params: object | undefined, options: BusRequestOptions): Promise<unknown>;
  notify(method: string, params: object | undefined, options: BusNotifyOptions): Promise<void>;
}

type WithoutSession<T> = Omit<T, 'sessionId'>;

export class BusSession {
  readonly id: string;
  readonly #actions: BusSessionActions;
  readonly #handlers: Handlers;

  constructor(id: string, actions: BusSessionActions, handlers: Handlers) {
    this.id = id;
    this.#actions = actions;
    this.#handlers = handlers;
  }

  request(
    method: string,
    params?: object,
    options: WithoutSession<BusRequestOptions> = {},
  ): Promise<unknown> {
    return this.#actions.request(method, params, { ...options, sessionId: this.id });
  }

  notify(method: string, params?: object, options: WithoutSession<BusNotifyOptions> = {}): Promise<void> {
    return this.#actions.notify(method, params, { ...options, sessionId: this.id });
  }

  /** What the worker of this session tells. Gives the way to stop it. */
  onNotification(handler: NotificationHandler): () => void {
    return this.#handlers.onNotification(this.id, handler);
  }

  /** Serves what the worker of this session asks. */
  onRequest(handler: RequestHandler): () => void {
    return this.#handlers.onRequest(this.id, handler);
  }
}
