// Who is told of what a worker says: the handlers of its session first, then those of the whole client.

import type { JsonRpcParams } from '../../wire/jsonrpc/message.js';

export interface BusMessage {
  readonly method: string;
  readonly params: JsonRpcParams | undefined;
  /** The session it is about, if it names one. */
  readonly sessionId: string | undefined;
}

export type NotificationHandler = (message: BusMessage) => void;
/** Gives the result, or throws: an RpcError is answered as it is. `signal` aborts when the worker calls it off. */
export type RequestHandler = (message: BusMessage & { readonly signal: AbortSignal }) => unknown;

/** Undefined is the whole client. */
type Scope = string | undefined;

export class Handlers {
  readonly #notifications = new Map<Scope, Set<NotificationHandler>>();
  readonly #requests = new Map<Scope, RequestHandler>();

  onNotification(scope: Scope, handler: NotificationHandler): () => void {
    const all = this.#notifications.get(scope) ?? new Set();
    this.#notifications.set(scope, all);
    const own: NotificationHandler = (message) => handler(message); // the same handler may be given twice
    all.add(own);
    return () => {
      all.delete(own);
      if (all.size === 0 && this.#notifications.get(scope) === all) this.#notifications.delete(scope);
    };
  }

  /** The last one given counts. */
  onRequest(scope: Scope, handler: RequestHandler): () => void {
    this.#requests.set(scope, handler);
    return () => {
      if (this.#requests.get(scope) === handler) this.#requests.delete(scope);
    };
  }

  notify(message: BusMessage): void {
    const { sessionId } = message;
    if (sessionId !== undefined)
      for (const handler of this.#notifications.get(sessionId) ?? []) handler(message);
    for (const handler of this.#notifications.get(undefined) ?? []) handler(message);
  }

  requestHandler(sessionId: string | undefined): RequestHandler | undefined {
    return this.#requests.get(sessionId) ?? this.#requests.get(undefined);
  }
}
