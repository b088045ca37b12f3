// The built rexd as a daemon: started on a free port, spoken to as a client of another make would.

import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { type Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { bin, Program } from './program.js';
import { until } from './wait.js';
import { removeFolder } from './remove-folder.js';

export const TOKEN = 'a-token-for-tests-0123456789abcdef';

export interface DaemonStart {
  /** Lines of `[server]`; `{base}` stands for the folder of this daemon. */
  readonly server?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
  readonly tables?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Puts files where the configuration says they are. */
  readonly prepare?: (base: string) => void;
  readonly command?: readonly [string, ...string[]];
  /** A descriptor to be its standard input. */
  readonly stdin?: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Answer;
}

export interface Answer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Record<string, unknown>;
  };
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
  readonly tls?: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
}

export class DaemonUnderTest extends Program {
  readonly base: string;
  readonly root: string;
  #lastId = 0;

  static async start(start: DaemonStart = {}): Promise<DaemonUnderTest> {
    const daemon = new DaemonUnderTest(start);
    try {
      await until(
        () => /rexd: listening on \S+\n/.test(daemon.stderr) || daemon.child.exitCode !== null,
        'the daemon to listen',
        60_000,
      );
    } catch (thrown) {
      await daemon[Symbol.asyncDispose]();
      throw thrown;
    }
    return daemon;
  }

  constructor(start: DaemonStart = {}) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-daemon-')));
    const root = join(base, 'app');
    mkdirSync(root);
    const lines = [
      '[server]',
      ...(start.server ?? []),
      '[limits]',
      ...Object.entries(start.limits ?? {}).map(([name, value]) => `${name} = ${value}`),
      ...(start.tables ?? []),
      '[[security.allowed_roots]]',
      `path = ${JSON.stringify(root)}`,
    ];
    writeFileSync(join(base, 'config.toml'), `${lines.join('\n').replaceAll('{base}', base)}\n`);
    start.prepare?.(base);
    const args = (start.args ?? ['--http', '127.0.0.1:0']).map((arg) => arg.replaceAll('{base}', base));
    const [program, ...before] = start.command ?? [process.execPath, bin('rexd')];
    super([program, ...before, ...args, '--config', join(base, 'config.toml')], {
      env: { XDG_STATE_HOME: join(base, 'state'), REXD_TOKEN: TOKEN, ...start.env },
      ...(start.stdin !== undefined && { stdin: start.stdin }),
    });
    this.base = base;
    this.root = root;
  }

  /** `http://127.0.0.1:PORT`, as it was announced. */
  get url(): string {
    return /rexd: listening on (https?:\S+)/.exec(this.stderr)?.[1] ?? '';
  }

  async http(path: string, ask: Ask = {}): Promise<Reply> {
    const url = new URL(path, this.url);
    const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return await new Promise((resolve, reject) => {
      const req = request(
        url,
        {
          method: ask.method ?? 'GET',
          headers: {
            ...(ask.body !== undefined && { 'Content-Length': Buffer.byteLength(ask.body) }),
            ...ask.headers,
          },
          agent: ask.agent ?? false, // a kept connection may be closed by the daemon just when it is used again
          ...(ask.signal !== undefined && { signal: ask.signal }),
          ...ask.tls,
        },
        (res) => {
          const parts: Buffer[] = [];
          res.on('data', (part: Buffer) => parts.push(part));
          res.on('error', reject);
          res.on('end', () => {
            const text = Buffer.concat(parts).toString('utf8');
            const { statusCode: status = 0, headers } = res;
            resolve({
              status,
              headers,
              text,
              get json() {
                return JSON.parse(text) as Answer;
              },
            });
          });
        },
      );
      req.on('error', reject);
      req.end(ask.body);
    });
  }

  /** A POST to /rpc with the token, whatever the body is. */
  async post(body: string | Buffer, ask: Ask = {}): Promise<Reply> {
    return await this.http('/rpc', {
      method: 'POST',
      ...ask,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...ask.headers },
      body,
    });
  }

  async call(method: string, params: object = {}, ask: Ask = {}): Promise<Answer> {
    const id = ++this.#lastId;
    return (await this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params }), ask)).json;
  }

  /** The result of a call that must succeed. */
  async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const { result, error } = await this.call(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async openSession(): Promise<string> {
    return String((await this.ask('session.open', { client_name: 'daemon test' }))['session_id']);
  }

  /** A WebSocket that is open. */
  async webSocket(headers: Record<string, string> = {}, path = '/ws'): Promise<Frames> {
    const socket = new WebSocket(`${this.url.replace(/^http/, 'ws')}${path}`, {
      headers: { Authorization: `Bearer ${TOKEN}`, ...headers },
      perMessageDeflate: false,
    });
    const frames = new Frames(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return frames;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    removeFolder(this.base);
  }
}

export interface Message extends Answer {
  readonly method?: string;
  readonly params?: Record<string, unknown>;
}

/** The messages of a WebSocket, in order. */
export class Frames implements Disposable {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #lastId = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString('utf8')) as Message));
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('error', () => {});
  }

  async call(method: string, params: object = {}): Promise<Answer> {
    const id = ++this.#lastId;
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return await until(() => this.messages.find((each) => each.id === id), `the answer of ${method}`, 60_000);
  }

  async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const { result, error } = await this.call(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  async openSession(): Promise<string> {
    return String((await this.ask('session.open', { client_name: 'ws test' }))['session_id']);
  }

  async event(method: string, processId: unknown): Promise<Message> {
    return await until(
      () => this.messages.find((each) => each.method === method && each.params?.['process_id'] === processId),
      method,
      60_000,
    );
  }

  [Symbol.dispose](): void {
    this.socket.terminate();
  }
}
