// An answer for a connection on which node:http gives us no response object: bad requests, upgrades refused.

import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';

export interface RawReply {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: unknown;
}

/** Writes the answer and our end of the connection; the client has `lingerMs` to read it and close the other end. */
export function replyRaw(socket: Duplex, reply: RawReply, lingerMs: number): void {
  socket.on('error', () => {}); // the client may leave in the middle of it
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(reply.body);
  const headers: OutgoingHttpHeaders = {
    ...reply.headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const reason = STATUS_CODES[reply.status] ?? 'Error';
  socket.end(`HTTP/1.1 ${reply.status} ${reason}\r\n${lines.join('')}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume(); // unread bytes would turn our close into a reset that overtakes the answer
}
