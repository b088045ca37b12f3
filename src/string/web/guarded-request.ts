// A request to the web whose address is checked where it is used: after DNS, before the connection, at every redirect.

import { lookup as lookUpName } from 'node:dns';
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { deadline, TimeoutError } from '../../base/deadline.js';
import { toError } from '../../base/errors.js';
import { isLoopbackHost, isPublicAddress } from './public-address.js';
import { AddressRefusedError, RequestFailedError } from './request-errors.js';

/** Of one request with all its redirects, until the last byte is there. */
export const REQUEST_TIMEOUT_MS = 15_000;
/** Of one answer, after decompression: what is small on the wire may be anything in memory. */
export const MAX_RESPONSE_BYTES = 5 * 1024 * 1024;
/** A chain that is longer leads nowhere. */
export const MAX_REDIRECTS = 5;

/**
 * `any`: the caller named the address, wherever it is; but a redirect from the public internet does not lead into this
 * machine or its network. `public`: never there. `{ origin }`: this origin only; it may be this machine only when it
 * says so by its name.
 */
export type Reach = 'any' | 'public' | { readonly origin: string };

export interface GuardedRequest {
  readonly url: string;
  /** GET unless said. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly reach: Reach;
  readonly maxRedirects?: number;
}

export interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** It came from the public internet. */
  readonly isPublic: boolean;
}

/** What another origin may see of the headers: nothing that could be a credential. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface Step {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  /** Also of where it was sent from: from there no way leads inside. */
  readonly mustBePublic: boolean;
}

/** Rejects with AddressRefusedError, RequestFailedError, TimeoutError or the reason of the signal. */
export async function guardedRequest(asked: GuardedRequest): Promise<GuardedResponse> {
  const { reach, signal, timeoutMs = REQUEST_TIMEOUT_MS, maxRedirects = MAX_REDIRECTS } = asked;
  using limit = deadline(timeoutMs, { also: [signal] });
  let step: Step = {
    url: parseUrl(asked.url),
    method: (asked.method ?? 'GET').toUpperCase(),
    headers: asked.headers ?? {},
    body: asked.body,
    mustBePublic: false,
  };
  for (let redirects = 0; ; redirects++) {
    const { response, address } = await send(step, reach, limit.signal);
    const { location } = response.headers;
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.has(status) || location === undefined) {
      const body = await readBody(response, asked.maxBytes ?? MAX_RESPONSE_BYTES, step.url, limit.signal);
      return {
        status,
        headers: response.headers,
        body,
        url: step.url.href,
        isPublic: isPublicAddress(address),
      };
    }
    response.destroy();
    if (redirects >= maxRedirects)
      throw new RequestFailedError(step.url.href, `more than ${maxRedirects} redirects`);
    step = follow(step, status, location, isPublicAddress(address));
  }
}

function follow(from: Step, status: number, location: string, fromPublic: boolean): Step {
  if (URL.canParse(location) && !/^https?:/iu.test(location))
    throw new AddressRefusedError(location, 'a redirect may not leave the web');
  const url = parseUrl(location, from.url);
  const keepsMethod = status === 307 || status === 308 || from.method === 'GET' || from.method === 'HEAD';
  const sameOrigin = url.origin === from.url.origin;
  const body = keepsMethod ? from.body : undefined;
  if (body !== undefined && !sameOrigin)
    throw new AddressRefusedError(url.href, 'a redirect may not take what was sent to another origin');
  const kept = Object.entries(from.headers).filter(([name]) => {
    if (body === undefined && /^content-/iu.test(name)) return false;
    return sameOrigin || HARMLESS_HEADERS.has(name.toLowerCase());
  });
  return {
    url,
    method: keepsMethod ? from.method : 'GET',
    headers: Object.fromEntries(kept),
    body,
    mustBePublic: from.mustBePublic || fromPublic,
  };
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined;
  if (url === undefined) throw new RequestFailedError(text, 'not an address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RequestFailedError(text, 'Unsupported URI scheme');
  return url;
}

/** The answer as far as its headers, and the address it came from. */
function send(
  step: Step,
  reach: Reach,
  signal: AbortSignal,
): Promise<{ response: IncomingMessage; address: string }> {
  const { url, method, body } = step;
  const publicOnly = step.mustBePublic || needsPublic(url, reach);
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  if (publicOnly && isIP(host) !== 0) assertPublic(url, [host]);
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = start(
      {
        host,
        port: url.port === '' ? undefined : Number(url.port),
        path: `${url.pathname}${url.search}`,
        method,
        headers: headersOf(step),
        // A connection of its own: one that was opened for somebody with a longer reach must not be used again.
        agent: false,
        lookup: checkedLookup(url, publicOnly),
        signal,
      },
      (response) => resolve({ response, address: response.socket.remoteAddress ?? '' }),
    );
    request.on('error', (error) => reject(explain(error, url, signal)));
    // A server that switches to another protocol ends the request without an answer, and without an error.
    request.on('close', () => reject(explain(new Error('no answer'), url, signal)));
    request.end(body);
  });
}

function needsPublic(url: URL, reach: Reach): boolean {
  if (reach === 'any') return false;
  if (reach === 'public') return true;
  if (url.origin !== reach.origin)
    throw new AddressRefusedError(url.href, `only ${reach.origin} may be reached from there`);
  return !isLoopbackHost(url.hostname);
}

/** The addresses that are checked are the ones that are connected to: nobody asks DNS a second time. */
function checkedLookup(url: URL, publicOnly: boolean): LookupFunction {
  return (hostname, options, done) => {
    lookUpName(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, []);
      try {
        if (publicOnly)
          assertPublic(
            url,
            found.map(({ address }) => address),
          );
      } catch (refused) {
        return done(toError(refused), []);
      }
      const [first] = found;
      if (options.all === true || first === undefined) return done(null, found);
      return done(null, first.address, first.family);
    });
  };
}

function assertPublic(url: URL, addresses: readonly string[]): void {
  const inside = addresses.find((address) => !isPublicAddress(address));
  if (inside !== undefined)
    throw new AddressRefusedError(
      url.href,
      `${inside} is not a public address, and may not be reached from there`,
    );
}

function headersOf({ url, headers, body }: Step): Record<string, string | number> {
  const all: Record<string, string | number> = { host: url.host, 'accept-encoding': 'gzip, deflate, br' };
  if (url.username !== '') {
    const name = `${decode(url.username)}:${decode(url.password)}`;
    all['authorization'] = `Basic ${Buffer.from(name).toString('base64')}`;
  }
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  if (body !== undefined) all['content-length'] = Buffer.byteLength(body);
  return all;
}

/** What is no encoding of anything is meant as it is written. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  url: URL,
  signal: AbortSignal,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of decompress(response) as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes)
        throw new RequestFailedError(url.href, `the answer has more than ${maxBytes} bytes`);
      parts.push(part);
    }
  } catch (thrown) {
    throw explain(toError(thrown), url, signal);
  } finally {
    response.destroy();
  }
  return Buffer.concat(parts);
}

/** A piece at a time, so that a bomb is noticed before it has gone off. */
function decompress(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const transform =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (transform === undefined) return response;
  response.on('error', (error) => transform.destroy(error));
  return response.pipe(transform);
}

function explain(error: Error, url: URL, signal: AbortSignal): Error {
  if (signal.aborted) return toError(signal.reason);
  if (error instanceof AddressRefusedError || error instanceof RequestFailedError) return error;
  if (error instanceof TimeoutError) return error;
  return new RequestFailedError(url.href, error.message === '' ? error.name : error.message, error);
}
