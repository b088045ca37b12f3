// The events of an agent as they come, over one connection after another: each once, none left out.

import { newAbort } from '../../base/abort.js';
import { LocalError, toError } from '../../base/errors.js';
import type { StreamedEvent } from '../../string/protocol.js';
import { decodeEvents } from '../../wire/sse/decode.js';
import { StringdError } from './errors.js';
import { type HttpDaemon, readChunks } from './http-daemon.js';
import { pause } from './pause.js';
import { type TimeLimit, timeLimit } from './time-limit.js';

/** The first attempt after a loss comes this much later; each further one after twice as long. */
export const MIN_RECONNECT_MS = 250;
/** And no longer than this. */
export const MAX_RECONNECT_MS = 10_000;
/** A stream that says nothing for so long is taken for dead: three of the daemon's pings. */
export const STREAM_IDLE_MS = 90_000;
/** Events that are remembered so that none is given twice. */
export const MAX_SEEN_EVENTS = 4096;

export interface WatchOptions {
  readonly signal?: AbortSignal;
  /** False: only events that arrive from now on. Otherwise first those that nobody has acknowledged. */
  readonly replay?: boolean;
  readonly minReconnectMs?: number;
  readonly maxReconnectMs?: number;
  readonly idleTimeoutMs?: number;
  /** Of each connection that is there: from now on nothing is missed. */
  readonly onConnected?: () => void;
  /** Of each connection that was lost, or could not be made. The next attempt follows. */
  readonly onLost?: (reason: Error) => void;
  /** How the daemon is told of the last event: a browser may not send the header to another origin. */
  readonly lastEventIdIn?: 'header' | 'query';
}

interface AckOptions extends Pick<WatchOptions, 'minReconnectMs' | 'maxReconnectMs'> {
  readonly signal: AbortSignal;
}

/** Ends when the signal aborts. Throws a StringdError when the daemon does not let us: there is no such agent. */
export async function* followEvents(
  daemon: HttpDaemon,
  agentId: string,
  options: WatchOptions = {},
): AsyncGenerator<StreamedEvent, void, undefined> {
  const { minReconnectMs = MIN_RECONNECT_MS, maxReconnectMs = MAX_RECONNECT_MS } = options;
  const ending = newAbort();
  const signal =
    options.signal === undefined ? ending.signal : AbortSignal.any([ending.signal, options.signal]);
  const seen = new SeenEvents();
  let pauseMs = minReconnectMs;
  try {
    while (!signal.aborted) {
      try {
        for await (const event of readStream(daemon, agentId, options, seen.last, signal)) {
          pauseMs = minReconnectMs;
          if (event !== undefined && seen.add(event.id)) yield event;
        }
        options.onLost?.(new LocalError('STREAM_ENDED', 'the daemon has ended the stream'));
      } catch (thrown) {
        if (signal.aborted) return;
        if (thrown instanceof StringdError && isFinal(thrown)) throw thrown;
        options.onLost?.(toError(thrown));
      }
      await pause(jitter(pauseMs), signal).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, maxReconnectMs);
    }
  } finally {
    ending.abort();
  }
}

/** Until the daemon knows, or knows nothing of the event any more; it may be away for a while meanwhile. Throws as `followEvents` does. */
export async function acknowledge(
  daemon: HttpDaemon,
  agentId: string,
  id: string,
  { minReconnectMs = MIN_RECONNECT_MS, maxReconnectMs = MAX_RECONNECT_MS, signal }: AckOptions,
): Promise<void> {
  const path = `/events/${encodeURIComponent(id)}/ack`;
  for (let pauseMs = minReconnectMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxReconnectMs)) {
    try {
      await daemon.ask({ method: 'POST', path, agentId }, { signal });
      return;
    } catch (thrown) {
      if (thrown instanceof StringdError && thrown.status === 404) return;
      if (thrown instanceof StringdError && isFinal(thrown)) throw thrown;
    }
    await pause(jitter(pauseMs), signal).catch(() => {});
  }
}

/** The events of one connection; undefined for every sign of life that is none. */
async function* readStream(
  daemon: HttpDaemon,
  agentId: string,
  options: WatchOptions,
  last: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent | undefined, void, undefined> {
  const { idleTimeoutMs = STREAM_IDLE_MS, replay = true, lastEventIdIn = 'header' } = options;
  const query = new URLSearchParams();
  // After a loss what came meanwhile is wanted in any case.
  if (!replay && last === undefined) query.set('replay', '0');
  if (last !== undefined && lastEventIdIn === 'query') query.set('last_event_id', last);
  const connection = new Idle(idleTimeoutMs, signal);
  try {
    const response = await daemon.open(
      {
        method: 'GET',
        path: `/events/stream?${query.toString()}`.replace(/\?$/, ''),
        agentId,
        headers: {
          Accept: 'text/event-stream',
          ...(last !== undefined && lastEventIdIn === 'header' && { 'Last-Event-ID': last }),
        },
      },
      connection.signal,
    );
    if (!response.ok) throw await daemon.refusal(response);
    for await (const { event, data } of decodeEvents(connection.watch(readChunks(response)))) {
      if (event === 'ready') options.onConnected?.();
      yield event === 'event' ? (JSON.parse(data) as StreamedEvent) : undefined;
    }
  } finally {
    connection.end();
  }
}

/** Aborts a connection over which nothing has come for long. While the reader is busy with an event, time does not count. */
class Idle {
  readonly #ms: number;
  readonly #outer: AbortSignal;
  readonly #controller = newAbort();
  #timer: TimeLimit | undefined;

  constructor(ms: number, outer: AbortSignal) {
    this.#ms = ms;
    this.#outer = outer;
    outer.addEventListener('abort', this.#follow, { once: true });
    if (outer.aborted) this.#follow();
    this.#start();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async *watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    this.#start();
    for await (const chunk of chunks) {
      this.#stop();
      yield chunk;
      this.#start();
    }
  }

  end(): void {
    this.#stop();
    this.#outer.removeEventListener('abort', this.#follow);
    this.#controller.abort();
  }

  #start(): void {
    this.#stop();
    const reason = (): Error => new LocalError('STREAM_IDLE', `nothing was heard for ${this.#ms} ms`);
    this.#timer = timeLimit(this.#ms, { reason });
    const { signal } = this.#timer;
    signal.addEventListener('abort', () => this.#controller.abort(signal.reason), { once: true });
  }

  #stop(): void {
    this.#timer?.end();
  }

  readonly #follow = (): void => this.#controller.abort(this.#outer.reason);
}

class SeenEvents {
  readonly #ids = new Set<string>();
  last: string | undefined;

  /** False for one that was there before. */
  add(id: string): boolean {
    this.last = id;
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MAX_SEEN_EVENTS && oldest !== undefined) this.#ids.delete(oldest);
    return true;
  }
}

/** What will be said again however often we ask. */
function isFinal({ status }: StringdError): boolean {
  return [400, 401, 403, 404, 405].includes(status);
}

/** Not all at the same moment, when many have lost the same daemon. */
function jitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
