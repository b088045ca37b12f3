// Where a server listens: a loopback port, another address if asked for, or a Unix socket.

import type { Server } from 'node:net';
import { errnoOf, LocalError, toError } from '../../base/errors.js';

export type ListenOptions =
  | { readonly host?: string; readonly port?: number; readonly path?: never }
  | { readonly path: string };

export type HttpAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly url: string }
  | { readonly kind: 'unix'; readonly path: string };

export class ListenError extends LocalError {
  override readonly name = 'ListenError';

  constructor(where: string, cause: Error) {
    const code = errnoOf(cause);
    super('cannot_listen', `cannot listen on ${where}: ${code ?? cause.message}`, {
      cause,
      facts: { where, errno: code },
    });
  }
}

export function listen(server: Server, options: ListenOptions): Promise<HttpAddress> {
  const where =
    options.path === undefined
      ? { host: options.host ?? '127.0.0.1', port: options.port ?? 0 }
      : { path: options.path };
  const name = where.path ?? joinAddress(where.host, where.port);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(new ListenError(name, error));
    server.once('error', fail);
    try {
      server.listen(where, () => {
        server.off('error', fail);
        resolve(describe(server));
      });
    } catch (thrown) {
      fail(toError(thrown)); // a port out of range, or listening already
    }
  });
}

function describe(server: Server): HttpAddress {
  const bound = server.address();
  if (bound === null) throw new LocalError('not_listening', 'the server is not listening');
  if (typeof bound === 'string') return { kind: 'unix', path: bound };
  const { address: host, port } = bound;
  return { kind: 'tcp', host, port, url: `http://${joinAddress(host, port)}` };
}

function joinAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
