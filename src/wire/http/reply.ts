// Whole answers: JSON, text or nothing, with exactly the headers they need.

import type { OutgoingHttpHeaders } from 'node:http';
import type { Exchange } from './context.js';
import { answerThenDrain, mustDrain } from './drain.js';

/** From here on a client that reads nothing can hold memory; a smaller answer fits the kernel's own buffers. */
export const WATCHED_BODY_BYTES = 64 * 1024;

export function sendJson(
  exchange: Exchange,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void {
  send(exchange, status, 'application/json', JSON.stringify(value), headers);
}

export function sendText(
  exchange: Exchange,
  status: number,
  text: string,
  headers?: OutgoingHttpHeaders,
): void {
  send(exchange, status, 'text/plain; charset=utf-8', text, headers);
}

export function sendEmpty(exchange: Exchange, status = 204, headers?: OutgoingHttpHeaders): void {
  send(exchange, status, undefined, '', headers);
}

/** Any body of any type. `headers` have the last word. To a client that has left, nothing happens. */
export function send(
  exchange: Exchange,
  status: number,
  type: string | undefined,
  body: string | Uint8Array,
  headers?: OutgoingHttpHeaders,
): void {
  const { req, res, settings } = exchange;
  if (res.destroyed) return;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const exact = exactHeaders(status, type, length, headers);
  if (!req.complete && mustDrain(exchange, exact)) return answerThenDrain(exchange, status, exact, body);
  if (length >= WATCHED_BODY_BYTES) watchForStall(exchange, settings.stallMs);
  res.writeHead(status, exact);
  res.end(body);
}

/** Put together one by one: spread objects cost node:http several times as much to write out. */
function exactHeaders(
  status: number,
  type: string | undefined,
  length: number,
  headers: OutgoingHttpHeaders | undefined,
): OutgoingHttpHeaders {
  const exact: OutgoingHttpHeaders = {};
  if (type !== undefined) exact['Content-Type'] = type;
  // 204 and 304 have no body and must not speak of one; every other answer says how long it is, also when that is 0.
  if (status !== 204 && status !== 304) exact['Content-Length'] = length;
  for (const name in headers) exact[name] = headers[name];
  return exact;
}

/** The socket's own timer counts from the last byte the client took, and node:http resets it for the next request. */
export function watchForStall(exchange: Exchange, stallMs: number): void {
  exchange.res.socket?.setTimeout(stallMs);
}
