// Links over unix sockets and TCP: connecting to one, and listening for many.

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { LocalError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import { closeDuplex } from './close-stream.js';
import type { StreamLink } from './link.js';
import { assertPathFits, claimSocketPath, listenOn, type SocketPath } from './socket-path.js';

/** Where a socket is: a path, or a host and port. Port 0 lets the system choose one. */
export type SocketAddress = { readonly path: string } | { readonly host: string; readonly port: number };
/** A descriptor that listens already, as systemd passes one. */
export interface PassedSocket {
  readonly fd: number;
}

/** Connections at the same time; one more is closed as soon as it is made. */
export const MAX_CONNECTIONS = 256;
/** How long a connection may take to be made. */
export const CONNECT_MS = 10_000;

export interface ListenOptions {
  /** Called for every connection. The link is the callee's to close; the listener closes what is left. */
  readonly onLink: (link: StreamLink) => void;
  readonly maxConnections?: number;
  readonly log?: Log;
}

export async function connectSocket(
  address: SocketAddress,
  options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
): Promise<StreamLink> {
  options.signal?.throwIfAborted();
  if ('path' in address) assertPathFits(address.path);
  const timeoutMs = options.timeoutMs ?? CONNECT_MS;
  // Half-open: the other side may say "no more requests" and still wait for its answers.
  const socket = connect({ ...address, allowHalfOpen: true, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    const fail = (reason: Error): void => {
      settle();
      socket.destroy();
      reject(reason);
    };
    const abort = (): void => fail(options.signal?.reason as Error);
    const timer = setTimeout(
      () => fail(new LocalError('connect_timeout', `no connection to ${nameOf(address)} in ${timeoutMs} ms`)),
      timeoutMs,
    );
    const settle = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
      socket.off('error', fail);
    };
    options.signal?.addEventListener('abort', abort, { once: true });
    socket.on('error', fail);
    socket.once('connect', () => {
      settle();
      resolve();
    });
  });
  return socketLink(socket, nameOf(address));
}

/** Resolves when connections are accepted. A unix socket is open to this user only, and its file goes with it. */
export async function listenSocket(
  address: SocketAddress | PassedSocket,
  options: ListenOptions,
): Promise<SocketListener> {
  const listener = new SocketListener(options);
  await listener.open(address);
  return listener;
}

export class SocketListener extends Resource {
  readonly #options: ListenOptions;
  readonly #server: Server;
  readonly #links = new Set<StreamLink>();
  #address: SocketAddress | undefined;
  #name = 'socket';
  #path: SocketPath | undefined;

  constructor(options: ListenOptions) {
    super();
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true });
    this.#server.maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
    // From the start: a connection may come in before `open` has returned.
    this.#server.on('connection', (socket) => this.#accept(socket));
    this.#server.on('drop', () => options.log?.warn('a connection too many was closed'));
  }

  /** Where it listens, with the port the system chose. Of a socket that was passed, only whoever passed it knows. */
  get address(): SocketAddress {
    if (this.#address === undefined)
      throw new LocalError('not_listening', 'not listening, or nobody knows where');
    return this.#address;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#links.size;
  }

  async open(address: SocketAddress | PassedSocket): Promise<void> {
    if ('fd' in address) {
      await listenOn(this.#server, address);
      this.#name = `descriptor ${address.fd}`;
    } else if ('path' in address) {
      this.#path = await claimSocketPath(address.path, this.#server);
      this.#address = address;
    } else {
      await listenOn(this.#server, { host: address.host, port: address.port });
      this.#address = { host: address.host, port: (this.#server.address() as AddressInfo).port };
    }
    // Out of descriptors while accepting, say: the connections there are go on.
    this.#server.on('error', (error) =>
      this.#options.log?.error('a listener failed', { error: error.message }),
    );
  }

  #accept(socket: Socket): void {
    const link = socketLink(socket, this.#address === undefined ? this.#name : nameOf(this.#address));
    this.#links.add(link);
    socket.once('close', () => this.#links.delete(link));
    try {
      this.#options.onLink(link);
    } catch (thrown) {
      this.#options.log?.error('a connection could not be served', { error: toError(thrown).stack });
      void link.close();
    }
  }

  protected override async release(): Promise<void> {
    // The file first: as long as it is there somebody answers, so nobody takes it for a dead one meanwhile.
    await this.#path?.remove();
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all(Array.from(this.#links, (link) => link.close()));
    await stopped;
  }
}

function socketLink(socket: Socket, name: string): StreamLink {
  // Whoever uses the link listens for errors; until then and afterwards none may be uncaught.
  socket.on('error', () => {});
  let closing: Promise<void> | undefined;
  return { input: socket, output: socket, name, close: () => (closing ??= closeDuplex(socket)) };
}

function nameOf(address: SocketAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `tcp:${host}:${address.port}`;
}
