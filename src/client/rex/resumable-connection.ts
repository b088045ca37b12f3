// A connection that outlives its links: when one is lost another is made, the session is resumed, and what was asked is
// asked again under the same id. The server carries it out once.

import { newAbort } from '../../base/abort.js';
import { deadline, TimeoutError, withSignal } from '../../base/deadline.js';
import { LocalError, RpcError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { RpcPeer } from '../../wire/jsonrpc/peer.js';
import type { RequestOptions } from '../../wire/jsonrpc/pending-requests.js';
import { type CompressionMode, offerCompression } from './compression.js';
import type { Connection } from './connection.js';
import { ACK_COUNT, type EventInbox } from './event-inbox.js';
import { type ReconnectOptions, SessionLostError, tryToResume } from './reconnect.js';
import type { RexResult } from './rex-methods.js';

/** A link over which the session is not resumed by then leads nowhere. */
export const RESUME_TIMEOUT_MS = 20_000;
/** How long what was taken may wait for company before the server is told. */
const ACK_MS = 200;
/** The first ids are those of requests that were sent before there was a session. */
const FIRST_ID = 16;

export interface ResumableFacts {
  readonly peer: RpcPeer;
  readonly sessionId: string;
  readonly resume: { readonly token: string; readonly window_ms: number };
  readonly inbox: EventInbox;
  readonly reconnect: ReconnectOptions;
  readonly compression?: CompressionMode | undefined;
  readonly log?: Log | undefined;
}

export class ResumableConnection extends Resource implements Connection {
  readonly lost: Promise<Error>;
  readonly #facts: ResumableFacts;
  readonly #ending = newAbort();
  #tellLost!: (reason: Error) => void;
  /** The peer to use, or the promise of the next one. */
  #ready: Promise<RpcPeer>;
  #current: RpcPeer | undefined;
  #lastId = FIRST_ID;
  #answered: number[] = [];
  #ackTimer: NodeJS.Timeout | undefined;

  constructor(facts: ResumableFacts) {
    super();
    this.#facts = facts;
    this.lost = new Promise((resolve) => (this.#tellLost = resolve));
    this.#ready = Promise.resolve(facts.peer);
    this.#use(facts.peer);
  }

  get connected(): boolean {
    return this.#current?.closing === false;
  }

  async request(method: string, params: object, options: RequestOptions = {}): Promise<unknown> {
    const id = (this.#lastId += 1);
    const { timeoutMs, signal } = options;
    if (timeoutMs === undefined) return await this.#ask(id, method, params, signal);
    using limit = deadline(timeoutMs, { also: signal === undefined ? [] : [signal] });
    return await this.#ask(id, method, params, limit.signal);
  }

  /** An event has come over the link of `peer`. */
  receive(peer: RpcPeer, method: string, params: Parameters<EventInbox['receive']>[1]): void {
    const { inbox } = this.#facts;
    if (inbox.receive(method, params)) this.#ackSoon();
    else void peer.close(new LocalError('events_missing', 'the server left out an event'));
  }

  protected override async release(reason: Error): Promise<void> {
    clearTimeout(this.#ackTimer);
    this.#ending.abort(reason);
    const peer = this.#current ?? (await this.#ready.catch(() => undefined));
    await peer?.close();
    this.#tellLost(reason);
  }

  async #ask(id: number, method: string, params: object, signal: AbortSignal | undefined): Promise<unknown> {
    for (;;) {
      signal?.throwIfAborted();
      const peer = await (signal === undefined ? this.#ready : withSignal(this.#ready, signal));
      try {
        const result = await peer.request(method, params, { id, ...(signal !== undefined && { signal }) });
        this.#noteAnswer(id);
        return result;
      } catch (thrown) {
        if (thrown instanceof RpcError) this.#noteAnswer(id);
        if (signal?.aborted === true || !isLoss(thrown, peer)) throw thrown;
        this.#lose(peer, toError(thrown));
      }
    }
  }

  #use(peer: RpcPeer): void {
    this.#current = peer;
    void peer.inputEnded.then(() => this.#lose(peer, new ClosedError('connection')));
    void peer.closed.then((reason) => this.#lose(peer, reason ?? new ClosedError('connection')));
  }

  /** Once for each peer, by whoever sees it first. */
  #lose(peer: RpcPeer, reason: Error): void {
    if (this.#current !== peer) return;
    this.#current = undefined;
    void peer.close();
    if (this.closing) return;
    this.#facts.log?.warn('the connection is lost', { reason: reason.message });
    this.#facts.reconnect.onLost?.(reason);
    this.#ready = this.#resume();
    this.#ready.catch((thrown: unknown) => this.#tellLost(toError(thrown)));
  }

  async #resume(): Promise<RpcPeer> {
    const { reconnect, resume } = this.#facts;
    const timeoutMs = reconnect.timeoutMs ?? resume.window_ms;
    using limit = deadline(timeoutMs, {
      also: [this.#ending.signal, ...(reconnect.signal === undefined ? [] : [reconnect.signal])],
      reason: () => new LocalError('timeout', `no connection was made in ${timeoutMs} ms`),
    });
    const peer = await tryToResume((nth) => this.#connect(nth, limit.signal), limit.signal);
    this.#use(peer);
    reconnect.onResumed?.();
    this.#ackSoon();
    return peer;
  }

  async #connect(attempt: number, signal: AbortSignal): Promise<RpcPeer> {
    const { reconnect, sessionId, resume, inbox, compression, log } = this.#facts;
    const connecting = reconnect.connect({ signal, attempt });
    const link = await withSignal(connecting, signal).catch((thrown: unknown) => {
      // One that comes when nobody waits any more would stay open for good.
      void connecting.then((late) => late.close()).catch(() => {});
      throw thrown;
    });
    const offer = offerCompression(link, compression);
    const peer = new RpcPeer(offer.link, {
      onNotification: ({ method, params }) => this.receive(peer, method, params),
      ...(log !== undefined && { log }),
    });
    try {
      const params = { session_id: sessionId, token: resume.token, event_seq: inbox.received };
      const answer = await peer.request(
        'session.resume',
        { ...params, ...offer.params },
        { id: (this.#lastId += 1), signal, timeoutMs: RESUME_TIMEOUT_MS },
      );
      offer.accept((answer as RexResult<'session.resume'>).compression);
      return peer;
    } catch (thrown) {
      void peer.close();
      if (thrown instanceof RpcError) throw new SessionLostError(thrown.message, thrown);
      throw thrown;
    }
  }

  #noteAnswer(id: number): void {
    this.#answered.push(id);
    this.#ackSoon();
  }

  /** At once when much was taken: the server waits for it. Else what comes within a moment is told of together. */
  #ackSoon(): void {
    const { inbox } = this.#facts;
    if (inbox.isDue || this.#answered.length >= ACK_COUNT) this.#ack();
    else if (!inbox.isTold || this.#answered.length > 0)
      this.#ackTimer ??= setTimeout(() => this.#ack(), ACK_MS).unref();
  }

  #ack(): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    if (this.#current === undefined || this.#current.closing || this.closing) return; // resuming tells it
    const answers = this.#answered;
    this.#answered = [];
    const { sessionId, inbox } = this.#facts;
    try {
      this.#current.notify('session.ack', {
        session_id: sessionId,
        event_seq: inbox.tell(),
        ...(answers.length > 0 && { answers }),
      });
    } catch {
      // The queue is full: told of by the next one.
    }
  }
}

/** Whether a request has failed with its link, and not by itself. */
function isLoss(thrown: unknown, peer: RpcPeer): boolean {
  if (thrown instanceof RpcError || thrown instanceof TimeoutError) return false;
  if (thrown instanceof ClosedError || peer.closing) return true;
  return thrown instanceof LocalError && thrown.code === 'connection_lost';
}
