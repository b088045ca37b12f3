// One GET at the hub, its redirects followed by our rules: the token is for the hub's own origin, whoever sends us elsewhere.

import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { deadline } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { HugindError } from '../errors.js';
import { isPrivateHost } from './private-host.js';

/** From the hub to where the bytes are; a mirror may add one or two. */
export const MAX_HUB_REDIRECTS = 5;
/** A server that says nothing for so long has gone away without a word. */
export const HUB_SILENCE_MS = 30_000;
/** Of an address we are sent to; those that are signed have about two thousand. */
export const MAX_REDIRECT_CHARS = 16 * 1024;

export interface HubRequest {
  readonly url: string;
  readonly token: string | undefined;
  /** The hub's: the only one the token goes to. */
  readonly origin: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly silenceMs?: number;
}

export interface HubResponse extends AsyncDisposable {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The hub's own first answer: it knows sizes and hashes that the store behind it does not tell. */
  readonly firstHeaders: IncomingHttpHeaders;
  /** Throws when the connection ends before the body does, or is silent for too long. */
  readonly body: AsyncIterable<Buffer>;
}

/** Rejects with the signal's reason, or a ConnectionLostError that is worth another attempt. */
export async function getFromHub(request: HubRequest): Promise<HubResponse> {
  let url = new URL(request.url);
  let firstHeaders: IncomingHttpHeaders | undefined;
  for (let hops = 0; ; hops++) {
    const response = await send(url, request);
    const { statusCode = 0, headers } = response;
    firstHeaders ??= headers;
    if (![301, 302, 303, 307, 308].includes(statusCode) || headers.location === undefined)
      return toResponse(response, firstHeaders, request);
    response.destroy();
    if (hops >= MAX_HUB_REDIRECTS)
      throw new HugindError('upstream_error', `the hub redirects more than ${MAX_HUB_REDIRECTS} times`);
    url = nextUrl(headers.location, url, request.origin);
  }
}

export class ConnectionLostError extends HugindError {
  constructor(why: string, cause?: unknown) {
    super('upstream_error', why, { cause });
  }
}

/** Only http(s), never from https to http, and from a public hub never into this machine's own network. */
function nextUrl(location: string, from: URL, origin: string): URL {
  const refuse = (why: string): HugindError =>
    new HugindError('upstream_error', `the hub redirects to ${why}; that is not followed`);
  if (location.length > MAX_REDIRECT_CHARS || !URL.canParse(location, from.href))
    throw refuse('what is no address');
  const next = new URL(location, from);
  if (!/^https?:$/.test(next.protocol)) throw refuse(`${next.protocol}…`);
  if (from.protocol === 'https:' && next.protocol === 'http:')
    throw refuse('a connection that is not encrypted');
  if (isPrivateHost(next.hostname) && !isPrivateHost(new URL(origin).hostname))
    throw refuse('an address of this machine or its network');
  return next;
}

async function send(url: URL, request: HubRequest): Promise<IncomingMessage> {
  const { token, origin, headers, signal, silenceMs = HUB_SILENCE_MS } = request;
  signal.throwIfAborted();
  const { request: start } =
    url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const isOurs = url.origin === origin;
  const options: RequestOptions = {
    agent: false, // a connection of its own: none is left open when we are done
    signal,
    headers: {
      'user-agent': 'hugind',
      accept: '*/*',
      'accept-encoding': 'identity',
      ...headers,
      ...(token !== undefined && isOurs && { authorization: `Bearer ${token}` }),
    },
  };
  using limit = deadline(silenceMs, { reason: () => new ConnectionLostError(`${url.host} does not answer`) });
  return await new Promise((resolve, reject) => {
    const outgoing = start(url, options, resolve);
    outgoing.on('error', (error) =>
      reject(
        signal.aborted
          ? toError(signal.reason)
          : new ConnectionLostError(`${url.host}: ${error.message}`, error),
      ),
    );
    const giveUp = (): void => {
      outgoing.destroy();
      reject(toError(limit.signal.reason));
    };
    limit.signal.addEventListener('abort', giveUp, { once: true });
    outgoing.end();
  });
}

function toResponse(
  response: IncomingMessage,
  firstHeaders: IncomingHttpHeaders,
  { signal, silenceMs = HUB_SILENCE_MS }: HubRequest,
): HubResponse {
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    firstHeaders,
    body: readBody(response, signal, silenceMs),
    [Symbol.asyncDispose]: async () => void response.destroy(),
  };
}

async function* readBody(
  response: IncomingMessage,
  signal: AbortSignal,
  silenceMs: number,
): AsyncGenerator<Buffer> {
  // The socket's own watch: a timer for each chunk would cost more than the chunk.
  response.setTimeout(silenceMs, () =>
    response.destroy(new ConnectionLostError(`nothing came for ${Math.round(silenceMs / 1000)} s`)),
  );
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) yield chunk;
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown instanceof HugindError
      ? thrown
      : new ConnectionLostError(`the connection was lost: ${toError(thrown).message}`, thrown);
  } finally {
    response.setTimeout(0);
    response.destroy();
  }
  if (!response.complete) throw new ConnectionLostError('the connection ended before the body did');
}
