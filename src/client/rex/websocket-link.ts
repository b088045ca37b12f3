// A link to a daemon by a WebSocket: events come as they happen, and the connection is the session's life.

import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { StreamLink } from '../../wire/transport/link.js';
import { webSocketLink } from '../../wire/transport/websocket.js';
import { addressOf, explainNetwork, explainStatus, type OnlineOptions } from './online.js';

/** Of the answer that refuses us, what is read. */
const MAX_REFUSAL_CHARS = 4096;
/** How long the other side may take to become a WebSocket. */
export const HANDSHAKE_MS = 10_000;
/** An answer that is longer ends the connection, here as over every other link. */
export const MAX_ANSWER_FRAME_BYTES = 64 * 1024 * 1024;

/** Resolves when it is open; rejects with an OnlineError that says why it is not. */
export async function openWebSocketLink(options: OnlineOptions): Promise<StreamLink> {
  options.signal?.throwIfAborted();
  const url = addressOf(options, 'ws');
  const { default: ws } = await import('ws'); // a CommonJS module: bundled, its other names are not there
  const { token, ca, cert, key } = options;
  const socket = new ws(url, {
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_ANSWER_FRAME_BYTES,
    followRedirects: false,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  });
  await opened(socket, url, options.signal);
  return webSocketLink(socket, { name: `ws:${url.host}` });
}

function opened(socket: WebSocket, url: URL, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal?.reason as Error);
      socket.terminate();
    };
    const settle = (): void => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort, { once: true });
    socket.once('open', () => {
      settle();
      resolve();
    });
    socket.on('error', (error) => {
      settle();
      reject(explainNetwork(error, url));
    });
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      settle();
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        if (body.length < MAX_REFUSAL_CHARS) body += text;
      });
      response.once('close', () => {
        reject(explainStatus(response.statusCode ?? 0, body));
        socket.terminate();
      });
    });
  });
}
