// The open connections of a server and what is being answered on each, so that closing can be orderly.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  readonly answering: Set<ServerResponse>;
  /** Taken over by another protocol: busy until it closes. */
  upgraded: boolean;
}

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** What TLS has yet to make a connection of, by where it comes from. */
  readonly #handshakes = new Map<string, Socket>();
  #inFlight = 0;
  #closing = false;
  #onEmpty: (() => void) | undefined;

  get size(): number {
    return this.#open.size;
  }

  /** Requests not yet answered completely, over all connections. */
  get inFlight(): number {
    return this.#inFlight;
  }

  add(socket: Socket): void {
    if (this.#closing) return void socket.destroy(); // accepted in the same breath as the end
    this.#handshakes.delete(originOf(socket));
    this.#open.set(socket, { answering: new Set(), upgraded: false });
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) this.#onEmpty?.();
    });
  }

  /** The bytes below TLS. The connection itself is added when it is one. */
  addHandshake(socket: Socket): void {
    if (this.#closing) return void socket.destroy();
    const origin = originOf(socket);
    this.#handshakes.set(origin, socket);
    socket.once('close', () => {
      if (this.#handshakes.get(origin) === socket) this.#handshakes.delete(origin);
    });
  }

  /** Counts `res` until it closes, which node:http sees to whether the client stays or leaves. */
  begin(socket: Socket, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.answering.add(res);
    this.#inFlight += 1;
    res.on('close', () => {
      this.#inFlight -= 1;
      connection.answering.delete(res);
      if (this.#closing) endIfIdle(socket, connection);
    });
  }

  upgrade(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.upgraded = true;
  }

  /** True while part of an answer is out, so that nothing else may be written in between. */
  isMidAnswer(socket: Socket): boolean {
    const answering = this.#open.get(socket)?.answering ?? [];
    return [...answering].some((res) => res.headersSent);
  }

  /** Idle connections close at once, the others as soon as they have been answered. Resolves when all are gone. */
  async closeWhenIdle(): Promise<void> {
    this.#closing = true;
    for (const socket of this.#handshakes.values()) socket.destroy();
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    for (const [socket, connection] of this.#open) {
      for (const res of connection.answering) if (!res.headersSent) res.shouldKeepAlive = false;
      endIfIdle(socket, connection);
    }
    if (this.#open.size > 0) await empty;
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

function originOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function endIfIdle(socket: Socket, connection: Connection): void {
  // Not destroy: the end of an answer may still be on its way out.
  if (connection.answering.size === 0 && !connection.upgraded) socket.destroySoon();
}
