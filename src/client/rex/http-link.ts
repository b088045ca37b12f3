// A link to a daemon by POST alone, for where nothing else gets through: requests are posted, events are asked for.
//
// To the client above it is a link like any other. Sessions are opened as resumable, so that their events are kept until
// they are asked for, and a request whose answer was lost is sent again and answered once.

import { Duplex } from 'node:stream';
import { newAbort } from '../../base/abort.js';
import { RpcError, toError } from '../../base/errors.js';
import { ClosedError } from '../../base/resource.js';
import { asLine } from '../../wire/jsonrpc/as-line.js';
import { INVALID_PARAMS } from '../../wire/jsonrpc/message.js';
import { LineSplitter } from '../../wire/ndjson/line-splitter.js';
import { closeDuplex } from '../../wire/transport/close-stream.js';
import { LINGER_MS, type StreamLink } from '../../wire/transport/link.js';
import { HttpPoster } from './http-poster.js';
import { explainNetwork, explainStatus, OnlineError, type OnlineOptions } from './online.js';
import { isSafeToRepeat, type PostedMessage, readPosted } from './posted-message.js';

/** Requests under way; past it the client above waits before it sends more. */
export const MAX_POSTS = 48;
/** How long the server may hold back an answer that has no event in it. */
export const POLL_MS = 25_000;
/** How long a daemon that does not answer is asked again. */
export const RETRY_MS = 10_000;
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1000;

export interface HttpLinkOptions extends OnlineOptions {
  readonly pollMs?: number;
  readonly retryMs?: number;
}

/** Nothing is sent before the first request, which tells whether anybody is there. */
export function openHttpLink(options: HttpLinkOptions): StreamLink {
  options.signal?.throwIfAborted();
  const stream = new PostedStream(options);
  stream.on('error', () => {}); // whoever uses the link listens too; until then none may be uncaught
  let closing: Promise<void> | undefined;
  return {
    input: stream,
    output: stream,
    name: `http:${stream.url.host}`,
    linesOnly: true,
    close: () => (closing ??= closeDuplex(stream)),
  };
}

interface EventsAnswer {
  readonly result?: { readonly events: readonly object[]; readonly event_seq: number };
  readonly error?: { readonly code: number; readonly message: string };
}

class PostedStream extends Duplex {
  readonly #poster: HttpPoster;
  readonly #options: HttpLinkOptions;
  readonly #lines: Buffer[] = [];
  readonly #splitter: LineSplitter;
  readonly #ended = newAbort();
  /** By the id of the request: what calls it off. */
  readonly #underWay = new Map<string, AbortController>();
  readonly #posts = new Set<Promise<void>>();
  /** Inputs of one process go one after another: requests that are under way together may overtake each other. */
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #polled = new Map<string, AbortController>();
  #wakeWriter: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;

  constructor(options: HttpLinkOptions) {
    super();
    this.#options = options;
    this.#poster = new HttpPoster(options);
    this.#splitter = new LineSplitter((bytes, start, end) => this.#lines.push(bytes.subarray(start, end)), {
      maxLineBytes: Number.MAX_SAFE_INTEGER,
    });
  }

  get url(): URL {
    return this.#poster.url;
  }

  override _read(): void {
    const wake = this.#wakeReader;
    this.#wakeReader = undefined;
    wake?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#splitter.push(chunk);
    for (const line of this.#lines.splice(0)) this.#send(line);
    if (this.#posts.size < MAX_POSTS) done();
    else this.#wakeWriter = done;
  }

  /** What was sent last should arrive, but nobody waits for long. */
  override _final(done: () => void): void {
    void this.#quiet(done);
  }

  async #quiet(then: () => void): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, LINGER_MS)));
    await Promise.race([Promise.all(this.#posts), late]);
    clearTimeout(timer);
    this.push(null);
    then();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#ended.abort(error ?? new ClosedError('connection'));
    this.#poster.close();
    done(error);
  }

  #send(line: Buffer): void {
    const message = readPosted(line);
    if (message.cancels !== undefined) {
      this.#underWay.get(message.cancels)?.abort(new ClosedError('request'));
      return;
    }
    const before = message.lane === undefined ? undefined : this.#lanes.get(message.lane);
    const post = this.#carryOrEnd(message, before);
    this.#posts.add(post);
    if (message.lane !== undefined) this.#lanes.set(message.lane, post);
    void this.#tidyAfter(post, message.lane);
  }

  async #tidyAfter(post: Promise<void>, lane: string | undefined): Promise<void> {
    await post;
    this.#posts.delete(post);
    if (lane !== undefined && this.#lanes.get(lane) === post) this.#lanes.delete(lane);
    if (this.#posts.size >= MAX_POSTS) return;
    const wake = this.#wakeWriter; // it may come back here, and leave another
    this.#wakeWriter = undefined;
    wake?.();
  }

  /** Never rejects: what cannot be carried ends the link. */
  async #carryOrEnd(message: PostedMessage, before: Promise<void> | undefined): Promise<void> {
    try {
      await before;
      await this.#carry(message);
    } catch (thrown) {
      if (!this.destroyed) this.destroy(toError(thrown));
    }
  }

  async #carry(message: PostedMessage): Promise<void> {
    const { id } = message;
    const abort = newAbort();
    if (id !== undefined) this.#underWay.set(id, abort);
    try {
      const answer = await this.#ask(message, abort.signal);
      if (answer === undefined || this.destroyed) return;
      if (message.session === 'open' || message.session === 'resume') this.#follow(message, answer);
      if (message.session === 'close')
        this.#polled.get(message.sessionId ?? '')?.abort(new ClosedError('session'));
      this.push(asLine(answer));
    } catch (thrown) {
      if (!abort.signal.aborted) throw thrown;
    } finally {
      if (id !== undefined) this.#underWay.delete(id);
    }
  }

  /** The body of the answer; undefined when there is none. */
  async #ask(message: PostedMessage, called: AbortSignal): Promise<Buffer | undefined> {
    const { status, type, body } = await this.#post(message.body, called, isSafeToRepeat(message));
    if (status === 204) return undefined;
    if (status === 200 && type.startsWith('application/json')) return body;
    const error = explainStatus(status, body.toString('utf8'));
    // One request that is too long, or one too many, is not the end of the others.
    if ((status === 413 || status === 503) && message.id !== undefined)
      return refusal(message.id, status === 413 ? 'The request is too long' : error.message);
    throw error;
  }

  async #post(body: Uint8Array, called: AbortSignal, repeat: boolean) {
    const signal = AbortSignal.any([called, this.#ended.signal]);
    const until = performance.now() + (this.#options.retryMs ?? RETRY_MS);
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LAST_RETRY_MS)) {
      try {
        return await this.#poster.post(body, signal);
      } catch (thrown) {
        const late = performance.now() + waitMs > until;
        const error = explainNetwork(thrown, this.url);
        if (signal.aborted || !repeat || late || error.reason !== 'unreachable') throw error;
        await pause(waitMs, signal);
      }
    }
  }

  /** From here on the events of the session are asked for. */
  #follow(message: PostedMessage, answer: Buffer): void {
    const { result } = JSON.parse(answer.toString('utf8')) as { result?: { session_id?: unknown } };
    const sessionId = result?.session_id;
    if (typeof sessionId !== 'string') return;
    this.#polled.get(sessionId)?.abort(new ClosedError('session'));
    const over = newAbort();
    this.#polled.set(sessionId, over);
    void this.#poll(sessionId, message.afterSeq ?? 0, over.signal).catch((thrown: unknown) => {
      if (!over.signal.aborted && !this.destroyed) this.destroy(toError(thrown));
    });
  }

  async #poll(sessionId: string, from: number, over: AbortSignal): Promise<void> {
    let after = from;
    for (let i = 1; !over.aborted && !this.destroyed; i++) {
      const params = { session_id: sessionId, after, wait_ms: this.#options.pollMs ?? POLL_MS };
      const request = { jsonrpc: '2.0', id: `events-${i}`, method: 'session.events', params };
      const { status, body } = await this.#post(Buffer.from(JSON.stringify(request)), over, true);
      if (over.aborted || this.destroyed) return;
      if (status !== 200) throw explainStatus(status, body.toString('utf8'));
      const { result, error } = JSON.parse(body.toString('utf8')) as EventsAnswer;
      if (result === undefined) throw explainRefusal(error);
      after = result.event_seq;
      let roomy = true;
      for (const event of result.events)
        roomy = this.push(`${JSON.stringify({ jsonrpc: '2.0', ...event })}\n`);
      if (!roomy) await new Promise<void>((resolve) => (this.#wakeReader = resolve));
    }
  }
}

/** A session that nobody asks anything of expires; its client should learn of it. */
function explainRefusal(error: EventsAnswer['error']): Error {
  if (error?.code === INVALID_PARAMS)
    return new OnlineError('busy', 'the session is over: the server has ended it');
  return new RpcError(error?.code ?? 0, error?.message ?? 'no events can be had');
}

function refusal(id: string, message: string): Buffer {
  return Buffer.from(
    `{"jsonrpc":"2.0","id":${id},"error":{"code":-32008,"message":${JSON.stringify(message)}}}`,
  );
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over); // it outlives many a pause
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over);
  });
}
