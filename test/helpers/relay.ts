// A way between two programs on loopback that can break: reset, or fall silent without a word.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class Relay implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<Relay> {
    const server = createServer((near) => relay.#join(near, port)).listen(0, '127.0.0.1');
    const relay = new Relay(server);
    await once(server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The ports from which the other side sees our connections. */
  get farPorts(): number[] {
    return [...this.#pairs].map(([, far]) => far.localPort ?? 0);
  }

  /** Both ends are told at once, and what was on the way is lost. */
  reset(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  /** Nothing passes any more and nobody is told. New connections are not affected. */
  stall(): void {
    for (const [near, far] of this.#pairs) {
      near.unpipe(far);
      far.unpipe(near);
      near.pause();
      far.pause();
    }
    this.#pairs.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #join(near: Socket, port: number): void {
    const far = connect(port, '127.0.0.1');
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [socket, other] of [pair, [far, near] as const]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        this.#sockets.delete(socket);
        this.#pairs.delete(pair);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
