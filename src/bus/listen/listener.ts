// A socket that clients connect to: a unix socket of this user's own, or TCP with or without TLS.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
  type TlsOptions,
} from 'node:tls';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import { claimSocketPath, listenOn, type SocketPath } from '../../wire/transport/socket-path.js';

export type ListenPlace = { readonly path: string } | { readonly host: string; readonly port: number };

/** How long a client may take for its part of the TLS handshake. */
export const HANDSHAKE_MS = 10_000;
/** Connections beyond the most clients there may be that are still accepted, to be told so instead of being cut. */
export const MAX_TURNED_AWAY = 64;

export interface ListenerOptions {
  /** The socket is the callee's from now on. */
  readonly onSocket: (socket: Socket, name: string) => void;
  /** What a client too many is told before it is closed. */
  readonly farewell: () => Buffer;
  readonly maxClients: () => number;
  /** Those who are in, also through other doors that share it. */
  readonly inside?: { count: number };
  readonly log: Log;
  readonly tls?: TlsOptions;
  readonly handshakeMs?: number;
}

export class ListenFailedError extends LocalError {
  override readonly name = 'ListenFailedError';

  constructor(place: ListenPlace, cause: unknown) {
    const why = errnoOf(cause) ?? toError(cause).message;
    super('cannot_listen', `cannot listen on ${sayPlace(place)}: ${EXPLAINED[why] ?? why}`, {
      cause,
      facts: { place: sayPlace(place), errno: errnoOf(cause) },
    });
  }
}

const EXPLAINED: Readonly<Record<string, string>> = {
  EADDRINUSE: 'somebody else is listening there already (EADDRINUSE)',
  EADDRNOTAVAIL: 'this machine has no such address (EADDRNOTAVAIL)',
  EACCES: 'it is not allowed (EACCES)',
  ENOTFOUND: 'no such host (ENOTFOUND)',
};

export class Listener extends Resource {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #inside: { count: number };
  #place: ListenPlace;
  #path: SocketPath | undefined;
  #accepted = 0;
  #full = false;

  static async open(place: ListenPlace, options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(place, options);
    await listener.#listen(place);
    return listener;
  }

  private constructor(place: ListenPlace, options: ListenerOptions) {
    super();
    this.#place = place;
    this.#options = options;
    this.#inside = options.inside ?? { count: 0 };
    // Half-open: a client may say "no more requests" and still wait for its answers.
    const common = { allowHalfOpen: true, noDelay: true };
    this.#server =
      options.tls === undefined
        ? createServer(common)
        : createTlsServer({
            ...common,
            ...options.tls,
            handshakeTimeout: options.handshakeMs ?? HANDSHAKE_MS,
          });
    this.#server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      this.#accept(socket),
    );
    this.#server.on('tlsClientError', (error: Error, socket: Socket) => {
      options.log.warn('a client was refused: TLS', { reason: error.message });
      socket.destroy(); // Node leaves it open
    });
  }

  /** `unix:/run/bus.sock`, `tcp:127.0.0.1:4000`: with the port the system chose. */
  get name(): string {
    return sayPlace(this.#place);
  }

  get place(): ListenPlace {
    return this.#place;
  }

  /** New certificates; connections that are open keep theirs. */
  renewTls(context: SecureContextOptions): void {
    if (this.#options.tls !== undefined) (this.#server as TlsServer).setSecureContext(context);
  }

  async #listen(place: ListenPlace): Promise<void> {
    try {
      if ('path' in place) this.#path = await claimSocketPath(place.path, this.#server);
      else {
        await listenOn(this.#server, { host: place.host, port: place.port });
        this.#place = { host: place.host, port: (this.#server.address() as AddressInfo).port };
      }
    } catch (thrown) {
      throw new ListenFailedError(place, thrown);
    }
    // Out of descriptors while accepting, say: the connections there are go on.
    this.#server.on('error', (error) =>
      this.#options.log.error('a listener failed', { reason: error.message }),
    );
  }

  #accept(socket: Socket): void {
    const { onSocket, maxClients, farewell, log } = this.#options;
    socket.on('error', () => {}); // whoever reads it listens too; until then and afterwards none may be uncaught
    const max = maxClients();
    this.#server.maxConnections = max + MAX_TURNED_AWAY;
    if (this.#inside.count >= max || this.closing) {
      if (!this.#full) log.warn('a client too many was turned away', { max_clients: max });
      this.#full = true;
      socket.end(farewell(), () => socket.destroy());
      return;
    }
    this.#full = false;
    this.#inside.count += 1;
    socket.once('close', () => (this.#inside.count -= 1));
    this.#accepted += 1;
    onSocket(socket, `${this.name}#${this.#accepted}`);
  }

  /** Nobody new comes in; whoever is in stays. */
  protected override async release(): Promise<void> {
    // The file first: as long as it is there somebody answers, so nobody takes it for a dead one meanwhile.
    await this.#path?.remove();
    this.#server.close();
  }
}

export function sayPlace(place: ListenPlace): string {
  if ('path' in place) return `unix:${place.path}`;
  return `tcp:${place.host.includes(':') ? `[${place.host}]` : place.host}:${place.port}`;
}
