// `fetch` for a daemon on this machine, over a plain socket: a command-line call cannot wait for the runtime's own, which takes
// longer to load than the command takes to run. One connection for one request.

import { connect, type Socket } from 'node:net';
import { LocalError } from '../../base/errors.js';
import type { Reply } from './http-daemon.js';
import { HttpReplyReader } from './http-reply-reader.js';

/** Only what HttpDaemon asks for: a method, headers as an object, a body that is text, a signal. */
export async function socketFetch(url: string, init: RequestInit): Promise<Reply> {
  const { protocol, hostname, port, pathname, search, host } = new URL(url);
  if (protocol !== 'http:') throw new LocalError('bad_url', `${protocol} is not spoken here, only http:`);
  const { method = 'GET', signal, body } = init;
  signal?.throwIfAborted();
  requirePlain(init.headers as Record<string, string> | undefined);
  // An IPv6 address is in brackets only within a URL.
  const socket = connect({
    host: hostname.replace(/^\[|\]$/gu, ''),
    port: Number(port === '' ? 80 : port),
    noDelay: true,
  });
  const abort = (): void => void socket.destroy(signal?.reason as Error);
  signal?.addEventListener('abort', abort, { once: true });
  socket.once('close', () => signal?.removeEventListener('abort', abort));
  const text = typeof body === 'string' ? body : '';
  const headers = {
    Host: host,
    Connection: 'close',
    ...(init.headers as Record<string, string> | undefined),
    ...((body !== undefined || method !== 'GET') && { 'Content-Length': String(Buffer.byteLength(text)) }),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${pathname}${search} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
  return await readReply(socket);
}

/** A line break in a header would begin another one, or another request. */
function requirePlain(headers: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(headers))
    if (/[^\t\P{Cc}]/u.test(name + value))
      throw new LocalError('bad_header', `the header ${JSON.stringify(name)} has a control character`);
}

async function readReply(socket: Socket): Promise<Reply> {
  const chunks = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  const reader = new HttpReplyReader();
  try {
    while (reader.status === undefined) {
      const step = await chunks.next();
      if (step.done === true)
        throw new LocalError('cut_off', 'the connection was closed before there was an answer');
      reader.push(step.value);
    }
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
  const { status } = reader;
  return { status, ok: status >= 200 && status < 300, body: readBody(socket, chunks, reader) };
}

async function* readBody(
  socket: Socket,
  chunks: AsyncIterator<Buffer>,
  reader: HttpReplyReader,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for (;;) {
      yield* reader.take();
      if (reader.isComplete) return;
      const step = await chunks.next();
      if (step.done === true) reader.end();
      else reader.push(step.value);
    }
  } finally {
    socket.destroy();
  }
}
