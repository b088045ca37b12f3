// What the HTTP tests share: a server on a free port, and a client that can misbehave.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Log, LogFacts } from '../../../../src/base/log.js';
import type { HttpMethod, Route } from '../../../../src/wire/http/router.js';
import { HttpServer, type HttpServerOptions } from '../../../../src/wire/http/server.js';
import { until } from '../../../helpers/wait.js';

export interface LogRecord {
  readonly level: string;
  readonly message: string;
  readonly facts: LogFacts;
}

/** Keeps every record, so that a test can ask what was said. */
export function recordLog(): { log: Log; records: LogRecord[] } {
  const records: LogRecord[] = [];
  const make = (bound: LogFacts): Log => {
    const at =
      (level: string) =>
      (message: string, facts: LogFacts = {}) =>
        void records.push({ level, message, facts: { ...bound, ...facts } });
    return {
      trace: at('trace'),
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (facts) => make({ ...bound, ...facts }),
      flush: () => Promise.resolve(),
    };
  };
  return { log: make({}), records };
}

export class TestServer implements AsyncDisposable {
  readonly server: HttpServer;
  readonly records: LogRecord[];
  readonly port: number;
  readonly url: string;

  private constructor(server: HttpServer, records: LogRecord[], port: number) {
    this.server = server;
    this.records = records;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(options: Partial<HttpServerOptions>): Promise<TestServer> {
    const { log, records } = recordLog();
    const server = new HttpServer({ routes: [], log, ...options });
    const address = await server.listen();
    if (address.kind !== 'tcp') throw new Error('expected a port');
    return new TestServer(server, records, address.port);
  }

  problems(): LogRecord[] {
    return this.records.filter(({ level }) => level === 'warn' || level === 'error');
  }

  connect(): Promise<RawClient> {
    return RawClient.connect(this.port);
  }

  /** One connection, one request with a Host, whatever comes back until the server closes. */
  async exchange(request: string): Promise<RawResponse> {
    await using client = await this.connect();
    client.write(request);
    return await client.response();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

export interface RawResponse {
  readonly status: number;
  readonly head: string;
  /** Names as sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A socket that sends what it is told and remembers what came back and how it ended. */
export class RawClient implements AsyncDisposable {
  readonly socket: Socket;
  received = '';
  ended = false;
  error: Error | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
    });
    socket.on('end', () => {
      this.ended = true;
    });
    socket.on('error', (error) => {
      this.error = error;
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  write(text: string | Buffer): void {
    this.socket.write(text);
  }

  /** The next whole response (by Content-Length, or none for 204/304 and `head`), taken off what was received. */
  response(options: { head?: boolean } = {}): Promise<RawResponse> {
    return until(
      () => this.#take(options.head === true),
      `a response; so far: ${JSON.stringify(this.received)}`,
    );
  }

  /** Until the server has closed or reset the connection. */
  async closed(): Promise<void> {
    await until(() => this.ended || this.socket.closed, 'the server to close the connection');
  }

  seen(text: string): Promise<boolean> {
    return until(
      () => this.received.includes(text),
      `${JSON.stringify(text)} in ${JSON.stringify(this.received)}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    if (!this.socket.closed) await once(this.socket, 'close');
  }

  #take(headOnly: boolean): RawResponse | undefined {
    if (this.error !== undefined && this.received === '') throw this.error;
    const end = this.received.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const head = this.received.slice(0, end);
    const [first = '', ...lines] = head.split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => line.split(/: (.*)/s).slice(0, 2)) as [string, string][],
    );
    const status = Number(first.split(' ')[1]);
    const length = headOnly || status < 200 || status === 204 ? 0 : Number(headers['Content-Length'] ?? 0);
    if (this.received.length < end + 4 + length) return undefined;
    const body = Buffer.from(this.received.slice(end + 4, end + 4 + length), 'latin1').toString('utf8');
    this.received = this.received.slice(end + 4 + length);
    return { status, head, headers, body };
  }
}

/** A request with a Host; the body gets its Content-Length. */
export function request(line: string, headers: Readonly<Record<string, string>> = {}, body?: string): string {
  const all = {
    Host: 'localhost',
    ...headers,
    ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** A promise and the hands to settle it. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export function route(path: string, handler: Route['handler'], method: HttpMethod = 'GET'): Route {
  return { method, path, summary: `test ${path}`, handler };
}
