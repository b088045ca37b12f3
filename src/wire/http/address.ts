// Where a server listens: a loopback port, another address if asked for, a Unix socket, or a socket it was given.

import type { Server } from 'node:net';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { claimSocketPath, listenOn } from '../transport/socket-path.js';

const DEFAULT_HOST = '127.0.0.1';

export type HttpListenOptions =
  | { readonly host?: string; readonly port?: number; readonly path?: never; readonly fd?: never }
  | { readonly path: string; readonly fd?: never }
  /** A descriptor that listens already, as systemd passes one. */
  | { readonly fd: number; readonly path?: never };

export type HttpAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly url: string }
  | { readonly kind: 'unix'; readonly path: string };

/** A place taken. */
export interface Bound {
  readonly address: HttpAddress;
  /** Removes the file of a Unix socket; to be called before the server closes. */
  remove(): Promise<void>;
}

export class ListenError extends LocalError {
  override readonly name = 'ListenError';

  constructor(where: string, cause: Error) {
    const code = errnoOf(cause);
    const why = code === 'EADDRINUSE' ? `somebody else is listening there already (${code})` : code;
    super('cannot_listen', `cannot listen on ${where}: ${why ?? cause.message}`, {
      cause,
      facts: { where, errno: code },
    });
  }
}

/** A Unix socket is open to this user only, and taken over from a server that died without removing it. */
export async function listen(
  server: Server,
  options: HttpListenOptions,
  scheme: 'http' | 'https' = 'http',
): Promise<Bound> {
  try {
    if (options.fd !== undefined) {
      await listenOn(server, { fd: options.fd });
      return { address: describe(server, scheme), remove: () => Promise.resolve() };
    }
    if (options.path !== undefined) {
      const file = await claimSocketPath(options.path, server);
      return { address: { kind: 'unix', path: file.path }, remove: () => file.remove() };
    }
    await listenOn(server, { host: options.host ?? DEFAULT_HOST, port: options.port ?? 0 });
    return { address: describe(server, scheme), remove: () => Promise.resolve() };
  } catch (thrown) {
    throw new ListenError(nameOf(options), toError(thrown)); // a port out of range, say, or one that is taken
  }
}

export function nameOf(options: HttpListenOptions): string {
  if (options.fd !== undefined) return `descriptor ${options.fd}`;
  return options.path ?? joinAddress(options.host ?? DEFAULT_HOST, options.port ?? 0);
}

function describe(server: Server, scheme: string): HttpAddress {
  const bound = server.address();
  if (bound === null || typeof bound === 'string')
    throw new LocalError('not_listening', 'the server does not listen on a port');
  const { address: host, port } = bound;
  return { kind: 'tcp', host, port, url: `${scheme}://${joinAddress(host, port)}` };
}

function joinAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
