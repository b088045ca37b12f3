// A router with clients and workers that a test plays itself, over streams in memory.

import { duplexPair, PassThrough, type Duplex } from 'node:stream';
import type { Log } from '../../../../src/base/log.js';
import { Router } from '../../../../src/bus/route/router.js';
import {
  type BusClientHandle,
  type BusWorkerHandle,
  type ClientOptions,
  DEFAULT_LIMITS,
  DEFAULT_SETTINGS,
  type RouterHooks,
  type RouterLimits,
  type RouterSettings,
  type WorkerOptions,
} from '../../../../src/bus/route/settings.js';
import { until } from '../../../helpers/wait.js';

export type Message = Record<string, unknown>;

export interface LogRecord {
  readonly level: string;
  readonly message: string;
  readonly facts: Record<string, unknown>;
}

export class Rig implements AsyncDisposable {
  readonly router: Router;
  readonly log: LogRecord[] = [];
  readonly #clients: TestClient[] = [];
  readonly #workers: TestWorker[] = [];
  settings: RouterSettings;

  constructor(
    settings: Partial<Omit<RouterSettings, 'limits'>> = {},
    limits: Partial<RouterLimits> = {},
    hooks: Partial<RouterHooks> = {},
  ) {
    this.settings = {
      ...DEFAULT_SETTINGS,
      pools: [{ id: 'main' }],
      ...settings,
      limits: { ...DEFAULT_LIMITS, ...limits },
    };
    this.router = new Router(this.settings, { log: this.#recorder(), ...hooks });
  }

  client(options: Partial<ClientOptions> = {}): TestClient {
    const name = `client-${this.#clients.length}`;
    const client = new TestClient(this.router, { framing: 'ndjson', name, ...options });
    this.#clients.push(client);
    return client;
  }

  worker(options: Partial<WorkerOptions> = {}): TestWorker {
    const name = `worker-${this.#workers.length}`;
    const worker = new TestWorker(this.router, { pool: 'main', name, ...options });
    this.#workers.push(worker);
    return worker;
  }

  /** A client that has asked under this id and left before the answer. */
  async goneClient(worker: TestWorker, id: number): Promise<void> {
    const gone = this.client();
    gone.send({ id, method: 'm' });
    await worker.next();
    gone.handle.close('it leaves');
    await gone.handle.closed;
  }

  /** All that was sent has gone as far as it can. */
  async settle(): Promise<void> {
    for (let i = 0; i < 6; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) {
      client.stream.resume().end();
      client.handle.close('the test is over');
    }
    for (const worker of this.#workers) worker.handle.remove('the test is over');
    await Promise.all(this.#clients.map((client) => client.handle.closed));
    this.router.close();
  }

  #recorder(): Log {
    const record =
      (level: string) =>
      (message: string, facts: Record<string, unknown> = {}): void =>
        void this.log.push({ level, message, facts });
    const log: Log = {
      trace: record('trace'),
      debug: record('debug'),
      info: record('info'),
      warn: record('warn'),
      error: record('error'),
      child: () => log,
      flush: () => Promise.resolve(),
    };
    return log;
  }
}

function linesOf(messages: readonly (Message | string)[]): string {
  return messages
    .map((m) => `${typeof m === 'string' ? m : JSON.stringify({ jsonrpc: '2.0', ...m })}\n`)
    .join('');
}

/** Lines that came, and a way to wait for them. */
class Inbox {
  readonly lines: string[] = [];
  #rest = '';

  take(chunk: Buffer): void {
    const parts = (this.#rest + chunk.toString('latin1')).split('\n');
    this.#rest = parts.pop() ?? '';
    this.lines.push(...parts);
  }

  async next(count = 1): Promise<Message[]> {
    await until(() => this.lines.length >= count, `${count} lines`);
    return this.lines.splice(0, count).map((line) => JSON.parse(line) as Message);
  }
}

/** What both sides of a test have. */
class Peer {
  readonly inbox = new Inbox();

  async next(): Promise<Message> {
    return (await this.inbox.next())[0]!;
  }

  get lines(): readonly string[] {
    return this.inbox.lines;
  }
}

export class TestClient extends Peer {
  readonly handle: BusClientHandle;
  readonly stream: Duplex;
  ended = false;

  constructor(router: Router, options: ClientOptions) {
    super();
    const [ours, theirs] = duplexPair();
    this.stream = ours;
    this.handle = router.addClient(theirs, options);
    ours.on('data', (chunk: Buffer) => this.inbox.take(chunk));
    ours.on('end', () => {
      this.ended = true;
    });
    ours.on('error', () => {});
  }

  send(...messages: (Message | string)[]): void {
    this.stream.write(linesOf(messages));
  }
}

export class TestWorker extends Peer {
  readonly handle: BusWorkerHandle;
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();

  constructor(router: Router, options: WorkerOptions) {
    super();
    this.handle = router.addWorker({ stdin: this.stdin, stdout: this.stdout }, options);
    this.stdin.on('data', (chunk: Buffer) => this.inbox.take(chunk));
  }

  say(...messages: (Message | string)[]): void {
    this.stdout.write(linesOf(messages));
  }
}
