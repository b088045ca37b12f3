// A client of stdio-bus: requests and notifications to workers, those of workers to us, and sessions. Connects again when cut.

import { newAbort } from '../../base/abort.js';
import { deadline, withSignal } from '../../base/deadline.js';
import { LocalError, RpcError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { ClosedError, Resource } from '../../base/resource.js';
import type { CallHandler } from '../../wire/jsonrpc/call-server.js';
import type { IncomingCall } from '../../wire/jsonrpc/incoming-call.js';
import { METHOD_NOT_FOUND } from '../../wire/jsonrpc/message.js';
import { RpcPeer } from '../../wire/jsonrpc/peer.js';
import { CONNECT_MS } from '../../wire/transport/socket.js';
import { tryAgain } from '../try-again.js';
import { assertPlace, type BusPlace, BusUnreachableError, openBusLink, sayPlace } from './bus-place.js';
import {
  type BusNotifyOptions,
  type BusRequestOptions,
  BusSession,
  type BusSessionActions,
} from './bus-session.js';
import { type BusMessage, Handlers, type NotificationHandler, type RequestHandler } from './handlers.js';

/** How long a client that was cut off tries to connect again, unless told otherwise. */
export const RECONNECT_MS = 30_000;
/** Requests that wait for the connection to come back; one more is refused. */
export const MAX_WAITING_REQUESTS = 1024;
/** How long a bus may take to let us in. */
export const AUTH_MS = 10_000;

export interface BusClientOptions {
  /** Stops the first attempts to connect. */
  readonly signal?: AbortSignal;
  /**
   * From the loss of the connection until the client gives up and closes: 0 for at once. What was asked and not answered
   * is rejected, and never sent again: nobody knows whether it was done.
   */
  readonly reconnectMs?: number;
  readonly onLost?: (reason: Error) => void;
  /** Sessions of before are gone: the bus has ended them with the connection. */
  readonly onReconnected?: () => void;
  readonly log?: Log;
}

/** Rejects with a BusUnreachableError, or with an RpcError when the bus does not let us in. */
export async function connectBus(place: BusPlace, options: BusClientOptions = {}): Promise<BusClient> {
  const client = new BusClient(place, options);
  try {
    await client.connected();
    return client;
  } catch (thrown) {
    await client.close();
    throw thrown;
  }
}

export class BusClient extends Resource {
  readonly #place: BusPlace;
  readonly #options: BusClientOptions;
  readonly #handlers = new Handlers();
  readonly #ending = newAbort();
  readonly #sessionActions: BusSessionActions;
  #ready: Promise<RpcPeer>;
  #peer: RpcPeer | undefined;
  #waiting = 0;

  /** Begins to connect; `connectBus` also waits for it. */
  constructor(place: BusPlace, options: BusClientOptions = {}) {
    super();
    assertPlace(place);
    this.#place = place;
    this.#options = options;
    this.#sessionActions = {
      request: (method, params, given) => this.request(method, params, given),
      notify: (method, params, given) => this.notify(method, params, given),
    };
    this.#ready = this.#connectFirst();
    this.#ready.catch(() => {}); // told to whoever waits for it
  }

  /** Whether messages can go out right now. */
  get online(): boolean {
    return this.#peer !== undefined;
  }

  /** Resolves when the connection is there, also after a loss. */
  async connected(): Promise<void> {
    await this.#ready;
  }

  /** The answer of a worker. Rejects with an RpcError for an error, the bus's own included. */
  async request(method: string, params?: object, options: BusRequestOptions = {}): Promise<unknown> {
    const { signal, timeoutMs } = options;
    const startedMs = performance.now();
    const peer = this.#peer ?? (await this.#wait(options));
    const leftMs = timeoutMs === undefined ? undefined : timeoutMs - (performance.now() - startedMs);
    return await peer.request(method, params, {
      beside: besideOf(options),
      ...(signal !== undefined && { signal }),
      ...(leftMs !== undefined && { timeoutMs: Math.max(1, leftMs) }),
    });
  }

  /** Resolves when there is room for more; that is not to say that anybody has read it. */
  async notify(method: string, params?: object, options: BusNotifyOptions = {}): Promise<void> {
    const peer = this.#peer ?? (await this.#wait({}));
    if (!peer.notify(method, params, besideOf(options))) await peer.drained();
  }

  /** Every notification that comes, of sessions too. Gives the way to stop it. */
  onNotification(handler: NotificationHandler): () => void {
    return this.#handlers.onNotification(undefined, handler);
  }

  /** Serves what workers ask, where no session has a handler of its own. Without one they are told that there is none. */
  onRequest(handler: RequestHandler): () => void {
    return this.#handlers.onRequest(undefined, handler);
  }

  /** A handle for one session: the one of this name, or a new one. The bus makes it with the first message. */
  session(id: string): BusSession {
    return new BusSession(id, this.#sessionActions, this.#handlers);
  }

  protected override async release(reason: Error): Promise<void> {
    this.#ending.abort(reason);
    const peer = await this.#ready.catch(() => undefined);
    await peer?.close();
  }

  async #wait(options: Pick<BusRequestOptions, 'signal' | 'timeoutMs'>): Promise<RpcPeer> {
    if (this.closing) throw new ClosedError('the bus client');
    if (this.#waiting >= MAX_WAITING_REQUESTS)
      throw new LocalError('too_many_requests', `${MAX_WAITING_REQUESTS} messages wait for the bus already`);
    const { signal = this.#ending.signal, timeoutMs } = options;
    this.#waiting += 1;
    try {
      if (timeoutMs === undefined) return await withSignal(this.#ready, signal);
      using limit = deadline(timeoutMs, { also: [signal] });
      return await withSignal(this.#ready, limit.signal);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #connectFirst(): Promise<RpcPeer> {
    const { signal } = this.#options;
    using limit = deadline(CONNECT_MS, {
      also: [this.#ending.signal, ...(signal === undefined ? [] : [signal])],
    });
    return await this.#connect(limit.signal);
  }

  async #connect(signal: AbortSignal): Promise<RpcPeer> {
    const link = await openBusLink(this.#place, signal);
    const { log } = this.#options;
    const peer = new RpcPeer(link, {
      onRequest: this.#serve,
      onNotification: (call) => this.#handlers.notify(messageOf(call)),
      ...(log !== undefined && { log }),
    });
    try {
      await this.#authenticate(peer);
      this.#ending.signal.throwIfAborted();
    } catch (thrown) {
      await peer.close();
      throw thrown;
    }
    this.#peer = peer;
    // Whichever is first: a bus that says no more has nothing to answer with either.
    void peer.inputEnded.then(() => this.#lose(peer, undefined));
    void peer.closed.then((reason) => this.#lose(peer, reason));
    return peer;
  }

  async #authenticate(peer: RpcPeer): Promise<void> {
    const token = 'host' in this.#place ? this.#place.token : undefined;
    if (token !== undefined) await peer.request('bus/auth', { token }, { timeoutMs: AUTH_MS });
  }

  #lose(peer: RpcPeer, reason: Error | undefined): void {
    if (this.#peer !== peer) return;
    this.#peer = undefined;
    void peer.close();
    if (this.closing) return;
    const lost = reason ?? new LocalError('connection_lost', 'the bus has closed the connection');
    this.#options.log?.warn('the bus is lost', { where: sayPlace(this.#place), reason: lost.message });
    this.#options.onLost?.(lost);
    this.#ready = this.#reconnect(lost);
    this.#ready.catch((thrown: unknown) => void this.close(toError(thrown)));
  }

  async #reconnect(lost: Error): Promise<RpcPeer> {
    const ms = this.#options.reconnectMs ?? RECONNECT_MS;
    if (ms === 0) throw lost;
    using limit = deadline(ms, {
      also: [this.#ending.signal],
      reason: () => new LocalError('timeout', `no connection was made in ${ms} ms`),
    });
    const peer = await tryAgain(() => this.#connect(limit.signal), {
      signal: limit.signal,
      isFinal: (thrown) => thrown instanceof RpcError, // it is there, and does not want us
      givenUp: (reason, last) => last ?? new BusUnreachableError(this.#place, reason),
    });
    this.#options.onReconnected?.();
    return peer;
  }

  readonly #serve: CallHandler = async (call) => {
    const message = messageOf(call);
    const handler = this.#handlers.requestHandler(message.sessionId);
    if (handler === undefined) throw new RpcError(METHOD_NOT_FOUND, `nobody here serves ${call.method}`);
    return await handler({ ...message, signal: call.signal });
  };
}

function besideOf({ sessionId, pool }: BusNotifyOptions): {
  sessionId: string | undefined;
  pool: string | undefined;
} {
  return { sessionId, pool };
}

/** The session stands beside the method, or, as ACP does it, in the params. */
function messageOf({ method, params, body }: IncomingCall): BusMessage {
  const beside = (body as { readonly sessionId?: unknown }).sessionId;
  const inside = (params as { readonly sessionId?: unknown } | undefined)?.sessionId;
  const sessionId = typeof beside === 'string' ? beside : inside;
  return { method, params, sessionId: typeof sessionId === 'string' ? sessionId : undefined };
}
