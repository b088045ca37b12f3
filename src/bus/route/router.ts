// Carries messages between clients and workers: an answer goes to the client that asked, and to nobody else.

import { Socket } from 'node:net';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { type BusErrorCode, type BusErrorData, errorLine, resultLine } from '../protocol.js';
import { type BusStats, newCounters } from '../stats.js';
import type {
  BusClientHandle,
  BusWorkerHandle,
  ClientOptions,
  ClientStream,
  PoolState,
  RouterHooks,
  RouterSettings,
  WorkerOptions,
  WorkerStream,
} from './settings.js';

interface Client extends BusClientHandle {
  send(line: string): void;
  asked: Map<string, Worker>;
}

interface Worker {
  readonly number: number;
  readonly options: WorkerOptions;
  admitted: boolean;
  retiring: boolean;
  readonly pending: Map<
    string,
    { client?: Client; settle?: (m: Message) => void; fail?: (e: Error) => void }
  >;
  send(line: string): void;
  onIdle: (() => void)[];
}

type Message = Record<string, unknown> & {
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
};

export class Router {
  #settings: RouterSettings;
  readonly #hooks: RouterHooks;
  readonly #clients = new Set<Client>();
  readonly #workers = new Set<Worker>();
  readonly #sessions = new Map<string, { worker: Worker; owner: Client }>();
  readonly #waiting: { client: Client; line: string; pool: string }[] = [];
  readonly #failed = new Set<string>();
  readonly #counters = newCounters();
  #numbers = 0;
  #refusing = false;
  #idle: (() => void)[] = [];

  constructor(settings: RouterSettings, hooks: RouterHooks) {
    this.#settings = settings;
    this.#hooks = hooks;
  }

  addClient(link: ClientStream, options: ClientOptions): BusClientHandle {
    const input = link instanceof Duplex ? link : toReadable((link as { input: number | Readable }).input);
    const output = link instanceof Duplex ? link : toWritable((link as { output: number | Writable }).output);
    let told = (_why: string): void => {};
    let ended = (): void => {};
    const client: Client = {
      number: ++this.#numbers,
      name: options.name,
      asked: new Map(),
      closed: new Promise((resolve) => {
        told = resolve;
      }),
      ended: new Promise((resolve) => {
        ended = resolve;
      }),
      send: (line) => void output.write(`${line}\n`),
      close: (reason) => {
        if (!this.#clients.delete(client)) return;
        output.end(() => {
          input.destroy();
          output.destroy();
        });
        for (const [id, s] of this.#sessions) if (s.owner === client) this.#sessions.delete(id);
        told(reason);
      },
    };
    this.#clients.add(client);
    const drainThenClose = (): void => {
      ended();
      const busy = [...this.#workers].some((w) => [...w.pending.values()].some((p) => p.client === client));
      if (busy) this.#idle.push(drainThenClose);
      else client.close('the client has ended');
    };
    readLines(input, (line) => this.#fromClient(client, line), drainThenClose);
    input.on('error', () => client.close('error'));
    output.on('error', () => client.close('error'));
    return client;
  }

  addWorker(link: WorkerStream, options: WorkerOptions): BusWorkerHandle {
    const stdin = toWritable(link.stdin);
    const stdout = toReadable(link.stdout);
    stdin.on('error', () => {});
    stdout.on('error', () => {});
    const worker: Worker = {
      number: ++this.#numbers,
      options,
      admitted: options.admitted ?? true,
      retiring: false,
      pending: new Map(),
      send: (line) => void stdin.write(`${line}\n`),
      onIdle: [],
    };
    this.#workers.add(worker);
    this.#failed.delete(options.pool);
    let rubbish = 0;
    const ended = new Promise<void>((resolve) => {
      readLines(
        stdout,
        (line) => {
          if (!this.#fromWorker(worker, line)) {
            rubbish += 1;
            if (rubbish > this.#settings.limits.maxRubbishLines)
              this.#hooks.onRubbish?.(worker.number, rubbish);
          }
        },
        resolve,
      );
    });
    this.#drainWaiting();
    return {
      number: worker.number,
      name: options.name,
      pool: options.pool,
      ended,
      get load() {
        return worker.pending.size;
      },
      get rubbish() {
        return rubbish;
      },
      admit: () => {
        worker.admitted = true;
        this.#drainWaiting();
      },
      retire: () => {
        worker.retiring = true;
        return worker.pending.size === 0
          ? Promise.resolve()
          : new Promise((resolve) => worker.onIdle.push(resolve));
      },
      endInput: () => new Promise((resolve) => void stdin.end(() => resolve())),
      remove: (why) => {
        if (!this.#workers.delete(worker)) return;
        for (const [id, p] of worker.pending) {
          p.client?.send(
            errorLine(id, -32002, { reason: 'worker_exited', hint: 'send the request again', why }),
          );
          p.fail?.(new Error(why));
        }
        worker.pending.clear();
        for (const [id, s] of this.#sessions) if (s.worker === worker) this.#sessions.delete(id);
        stdin.destroy();
        stdout.destroy();
        this.#settled(worker);
      },
      request: (method, params, timeoutMs) =>
        new Promise((resolve, reject) => {
          const id = JSON.stringify(`bus-${process.pid}-${++this.#numbers}`);
          const timer = setTimeout(() => {
            worker.pending.delete(id);
            reject(new Error(`no answer to ${method} within ${timeoutMs} ms`));
          }, timeoutMs);
          worker.pending.set(id, {
            settle: (m) => {
              clearTimeout(timer);
              if ('error' in m) reject(new Error(JSON.stringify(m['error'])));
              else resolve(m.result);
            },
            fail: (e) => {
              clearTimeout(timer);
              reject(e);
            },
          });
          worker.send(
            `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${JSON.stringify(params ?? {})}}`,
          );
        }),
    };
  }

  /** What requests for a pool without a ready worker shall expect. */
  setPoolState(pool: string, state: PoolState, why?: string): void {
    if (state === 'starting') this.#failed.delete(pool);
    else this.#failed.add(pool);
    this.#hooks.log.debug('pool state', { pool, state, why });
    this.#drainWaiting();
  }

  update(settings: RouterSettings): void {
    this.#settings = settings;
  }

  pending(): number {
    let sum = 0;
    for (const worker of this.#workers) sum += worker.pending.size;
    return sum;
  }

  stats(): BusStats {
    return {
      ...this.#counters,
      clients: this.#clients.size,
      sessions: this.#sessions.size,
      pending: this.pending(),
      waiting: this.#waiting.length,
      queuedToClientsBytes: 0,
      workers: [...this.#workers].map((w) => ({
        number: w.number,
        name: w.options.name,
        pool: w.options.pool,
        load: w.pending.size,
        queuedBytes: 0,
        rubbish: 0,
        state: w.retiring ? 'retiring' : w.admitted ? 'ready' : 'preparing',
      })),
    };
  }

  refuseNew(): void {
    this.#refusing = true;
  }

  idle(): Promise<void> {
    if (this.pending() === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.pending() === 0) resolve();
        else this.#idle.push(look);
      };
      this.#idle.push(look);
    });
  }

  #fromClient(client: Client, line: string): void {
    let m: Message;
    try {
      m = JSON.parse(line) as Message;
      if (m === null || typeof m !== 'object' || Array.isArray(m)) throw new Error('no object');
    } catch {
      client.send(errorLine('null', -32700, { reason: 'not_json', hint: 'send one JSON object a line' }));
      client.close('no JSON');
      return;
    }
    this.#counters.messagesFromClients += 1;
    const id = m['id'] === undefined ? undefined : JSON.stringify(m['id']);
    const method = m['method'];
    if (id === undefined && method === undefined && m['sessionId'] === undefined && !this.#settings.lenient) {
      client.close('no routing field');
      return;
    }
    const refuse = (code: BusErrorCode, data: BusErrorData): void => {
      if (id !== undefined && method !== undefined) client.send(errorLine(id, code, data));
    };
    if (method === 'bus/stats' && id !== undefined) {
      client.send(resultLine(id, this.#hooks.describe?.() ?? this.stats()));
      return;
    }
    if (this.#refusing) {
      refuse(-32004, { reason: 'shutting_down', hint: 'connect to another bus' });
      return;
    }
    const sid = m['sessionId'] ?? m.params?.['sessionId'];
    const session = typeof sid === 'string' ? this.#sessions.get(sid) : undefined;
    if (id !== undefined && method === undefined) {
      (client.asked.get(id) ?? session?.worker)?.send(line);
      return;
    }
    if (session !== undefined && session.owner !== client && this.#settings.sessionOwnership === 'strict') {
      refuse(-32005, { reason: 'session_owned', hint: 'use a session of your own' });
      return;
    }
    const pools = this.#settings.pools.map((p) => p.id);
    const named = m['pool'] ?? this.#settings.defaultPool ?? (pools.length === 1 ? pools[0] : undefined);
    const pool = session?.worker.options.pool ?? (typeof named === 'string' ? named : undefined);
    if (pool === undefined || !pools.includes(pool)) {
      refuse(-32001, {
        reason: pool === undefined ? 'pool_required' : 'unknown_pool',
        hint: 'name a pool',
        pools,
      });
      return;
    }
    const ready = [...this.#workers].filter((w) => w.options.pool === pool && w.admitted && !w.retiring);
    const free = ready.filter((w) => id === undefined || !w.pending.has(id));
    const worker = session?.worker ?? free.sort((a, b) => a.pending.size - b.pending.size)[0];
    if (worker === undefined) {
      if (this.#failed.has(pool))
        refuse(-32000, { reason: 'pool_failed', hint: 'see the log of the bus', pool });
      else this.#waiting.push({ client, line, pool });
      return;
    }
    if (id !== undefined) worker.pending.set(id, { client });
    if (typeof sid === 'string' && session === undefined) this.#sessions.set(sid, { worker, owner: client });
    worker.send(line);
  }

  #fromWorker(worker: Worker, line: string): boolean {
    let m: Message;
    try {
      m = JSON.parse(line) as Message;
    } catch {
      return false;
    }
    this.#counters.messagesFromWorkers += 1;
    const id = m['id'] === undefined ? undefined : JSON.stringify(m['id']);
    if (id !== undefined && m['method'] === undefined) {
      const p = worker.pending.get(id);
      worker.pending.delete(id);
      const sid = m.result?.['sessionId'];
      if (p?.client !== undefined && typeof sid === 'string')
        this.#sessions.set(sid, { worker, owner: p.client });
      p?.client?.send(line);
      p?.settle?.(m);
      this.#settled(worker);
      return true;
    }
    const sid = m['sessionId'] ?? m.params?.['sessionId'];
    const session = typeof sid === 'string' ? this.#sessions.get(sid) : undefined;
    if (id !== undefined) session?.owner.asked.set(id, worker);
    session?.owner.send(line);
    return true;
  }

  #settled(worker: Worker): void {
    if (worker.pending.size === 0) for (const done of worker.onIdle.splice(0)) done();
    for (const look of this.#idle.splice(0)) look();
    this.#drainWaiting();
  }

  #drainWaiting(): void {
    for (const { client, line } of this.#waiting.splice(0)) this.#fromClient(client, line);
  }
}

function toReadable(from: number | Readable): Readable {
  return typeof from === 'number' ? new Socket({ fd: from, readable: true, writable: false }) : from;
}

function toWritable(to: number | Writable): Writable {
  return typeof to === 'number' ? new Socket({ fd: to, readable: false, writable: true }) : to;
}

function readLines(input: Readable, each: (line: string) => void, end: () => void): void {
  let rest = '';
  input.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') each(Buffer.from(line, 'latin1').toString());
  });
  input.once('end', end);
  input.once('close', end);
}
