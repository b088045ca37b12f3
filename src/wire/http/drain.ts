// Answering before the request body has been read, in a way that lets the client read the answer.

import type { OutgoingHttpHeaders } from 'node:http';
import type { Exchange } from './context.js';

/**
 * A body that is not all here yet must be dealt with when the connection will close (closing with unread bytes makes the
 * kernel send a reset, which can throw away the answer) or when nobody knows how long it is. A short one that was
 * announced is left to node:http, which drops it and keeps the connection.
 */
export function mustDrain(exchange: Exchange, headers: OutgoingHttpHeaders): boolean {
  const { req, res, settings } = exchange;
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = req.headers;
  if (encoding !== undefined) return true;
  if (length === undefined || length === '0') return false;
  const closes = headers['Connection'] === 'close' || !res.shouldKeepAlive || expect !== undefined;
  return closes || Number(length) > settings.maxDrainBytes;
}

/**
 * Sends the whole answer, drops what still arrives for a bounded time and number of bytes, then closes. The response is
 * ended last: node:http would close the connection with it.
 */
export function answerThenDrain(
  exchange: Exchange,
  status: number,
  headers: OutgoingHttpHeaders,
  body: string | Uint8Array,
): void {
  const { req, res, settings } = exchange;
  res.writeHead(status, { ...headers, Connection: 'close' });
  res.flushHeaders(); // apart: an answer to HEAD has no body to take them along
  if (body.length > 0) res.write(body);

  let room = settings.maxDrainBytes;
  const drop = (chunk: Buffer): void => {
    room -= chunk.length;
    if (room < 0) finish();
  };
  const finish = (): void => {
    clearTimeout(timer);
    req.off('data', drop).off('end', finish);
    res.off('close', finish);
    if (!res.destroyed) res.end();
  };
  const timer = setTimeout(finish, settings.drainMs);
  req.on('data', drop).once('end', finish);
  res.once('close', finish);
  req.resume();
}
