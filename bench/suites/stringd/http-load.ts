// Requests over connections that stay open, one in flight on each: bytes out, whole answers counted, and how long each took.

import { connect, type Socket } from 'node:net';
import { LocalError } from '../../../src/base/errors.js';
import { AnswerReader } from './answer-reader.js';

/** Without any answer for so long, a server hangs. */
const STALL_MS = 10_000;

export class LoadError extends LocalError {
  override readonly name = 'LoadError';

  constructor(problem: string) {
    super('load_failed', problem);
  }
}

export interface LoadOrder {
  readonly port: number;
  readonly connections: number;
  /** The nth request of a connection, head and body, as it goes over the wire. */
  readonly requestOf: (connection: number, nth: number) => Buffer;
  /** Each connection sends as many as the others, where it matters that each comes to its end. */
  readonly isEven?: boolean;
  readonly status: number;
}

export interface LoadReport {
  readonly wallMs: number;
  /** Of each request, in the order in which they were answered. */
  readonly latenciesMs: Float64Array;
}

/** Connections of one order, kept from turn to turn. */
export class HttpLoad {
  readonly #order: LoadOrder;
  #sockets: Socket[] = [];

  constructor(order: LoadOrder) {
    this.#order = order;
  }

  /** Rejects at an answer of another status, a closed connection, or silence. */
  async run(requests: number): Promise<LoadReport> {
    const { connections, port } = this.#order;
    if (this.#sockets.some((socket) => socket.destroyed)) this.close();
    if (this.#sockets.length === 0)
      this.#sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
    try {
      return await this.#drive(requests);
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets = [];
  }

  #drive(requests: number): Promise<LoadReport> {
    const { requestOf, status, connections, isEven } = this.#order;
    const latenciesMs = new Float64Array(requests);
    const most = isEven === true ? Math.ceil(requests / connections) : requests;
    return new Promise((resolve, reject) => {
      let sent = 0;
      let done = 0;
      let seen = -1;
      const startedAt = performance.now();
      const finish = (error?: Error): void => {
        clearInterval(watch);
        for (const socket of this.#sockets) socket.removeAllListeners();
        if (error === undefined) resolve({ wallMs: performance.now() - startedAt, latenciesMs });
        else reject(error);
      };
      const watch = setInterval(() => {
        if (seen === done) finish(new LoadError(`no answer for ${STALL_MS} ms`));
        seen = done;
      }, STALL_MS);
      for (const [i, socket] of this.#sockets.entries()) {
        if (sent >= requests) break;
        let nth = 0;
        let sentAt = 0;
        const send = (): void => {
          sent += 1;
          sentAt = performance.now();
          socket.write(requestOf(i, nth++));
        };
        const reader = new AnswerReader((got, body) => {
          if (got !== status)
            return finish(new LoadError(`answered ${got}, not ${status}: ${body().slice(0, 200)}`));
          latenciesMs[done++] = performance.now() - sentAt;
          if (sent < requests && nth < most) send();
          else if (done === requests) finish();
        });
        socket.on('data', (chunk: Buffer) => reader.push(chunk));
        socket.on('error', (error) => finish(error));
        socket.on('close', () => finish(new LoadError('the connection was closed')));
        send();
      }
    });
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
