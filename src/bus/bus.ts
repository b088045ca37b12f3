// The bus: a router, the pools of workers behind it and the doors in front, from start to drain.

import type { Duplex } from 'node:stream';
import { deadline, withSignal } from '../base/deadline.js';
import { LocalError, toError } from '../base/errors.js';
import { Lane } from '../base/lane.js';
import type { Log } from '../base/log.js';
import { ClosedError, Resource } from '../base/resource.js';
import { settleAll } from '../base/settle-all.js';
import { VERSION } from '../base/version.js';
import { isLoopbackHost, parseListenAddress } from '../guard/listen-address.js';
import type { HttpServer } from '../wire/http/server.js';
import { linkedPair } from '../wire/transport/memory.js';
import { describeBus, type BusReport } from './bus-report.js';
import { checkConfig } from './config/check-config.js';
import type { BusConfig, BusConfigInput, PoolConfig } from './config/schema.js';
import { Access } from './listen/access.js';
import { TokenGuard } from './listen/token-guard.js';
import { Listener, type ListenPlace } from './listen/listener.js';
import { errorLine, OVERLOADED, SHUTTING_DOWN } from './protocol.js';
import { Router } from './route/router.js';
import type { BusClientHandle, ClientStream } from './route/settings.js';
import { toRouterSettings } from './router-settings.js';
import { silentLog } from './silent-log.js';
import type { TraceHook } from './trace.js';
import { findProgramProblem } from './workers/find-program.js';
import { Pool } from './workers/pool.js';

/** Reloads and rolling restarts that may wait behind the one that is under way; one more is refused. */
export const MAX_WAITING_CHANGES = 16;
/** Between TERM and KILL at the end, whatever the drain has left of its time. */
export const LEAST_GRACE_MS = 500;
/** The most of it: a worker that has not ended by then will not. */
export const MOST_GRACE_MS = 2000;

export interface BusOptions {
  /** As in the configuration file. */
  readonly config: BusConfigInput;
  readonly log?: Log;
  /** The environment that workers get, with what their pool adds; by default ours. The token is taken out of it. */
  readonly env?: NodeJS.ProcessEnv;
  /** A line that a worker printed on stderr; by default it goes to the log. */
  readonly onStderr?: (worker: string, line: string) => void;
  /** Told of every message that passes: who, what and how large, never what it says. */
  readonly trace?: TraceHook;
}

export interface AcceptOptions {
  readonly name?: string;
  readonly framing?: 'ndjson' | 'length';
}

/** Starts the workers; resolves when all of their programs run. Any number of buses may be in one process. */
export async function createBus(options: BusOptions): Promise<Bus> {
  const bus = new Bus(options);
  await bus.start();
  return bus;
}

export class Bus extends Resource {
  readonly router: Router;
  readonly #log: Log;
  readonly #env: NodeJS.ProcessEnv;
  readonly #access: Access;
  readonly #onStderr: (worker: string, line: string) => void;
  readonly #pools = new Map<string, Pool>();
  readonly #listeners = new Set<Listener>();
  readonly #inside = { count: 0 };
  readonly #metrics = new Set<HttpServer>();
  readonly #clients = new Set<BusClientHandle>();
  /** Reloads and restarts: one at a time. */
  readonly #changes = new Lane({ maxWaiting: MAX_WAITING_CHANGES });
  readonly #startedAtMs = Date.now();
  #config: BusConfig;
  #draining: Promise<number> | undefined;
  #connected = 0;

  /** Throws BusConfigError. Nothing runs before `start`. */
  constructor(options: BusOptions) {
    super();
    this.#config = checkConfig(options.config, 'configuration');
    this.#log = options.log ?? silentLog;
    this.#env = { ...(options.env ?? process.env) };
    this.#access = new Access(this.#config.security, this.#env);
    this.#onStderr =
      options.onStderr ?? ((worker, line) => this.#log.info(line, { worker, stream: 'stderr' }));
    this.router = new Router(toRouterSettings(this.#config), {
      log: this.#log,
      describe: () => this.report(),
      restart: async (params) => await this.#restartAsked(params),
      onRubbish: (worker, lines) => this.#onRubbish(worker, lines),
      ...(options.trace !== undefined && { trace: options.trace }),
    });
  }

  get config(): BusConfig {
    return this.#config;
  }

  /** Where clients can connect. */
  get places(): string[] {
    return [...this.#listeners].map(({ name }) => name);
  }

  /** Starts every worker. Rejects, with nothing left running, when a program cannot be started. */
  async start(): Promise<void> {
    try {
      for (const config of this.#config.pools) this.#pools.set(config.id, this.#newPool(config));
      await Promise.all(Array.from(this.#pools.values(), (pool) => pool.launched()));
    } catch (thrown) {
      await this.close(toError(thrown));
      throw thrown;
    }
  }

  /** Clients may connect there from now on. TCP off loopback needs `allowRemote`, and a token or client certificates. */
  async listen(place: ListenPlace, options: { readonly allowRemote?: boolean } = {}): Promise<Listener> {
    this.#assertGoesOn();
    const isTcp = !('path' in place);
    if (isTcp) this.#access.assertMayListen(place.host, options.allowRemote === true);
    const { tls, checkToken } = this.#access;
    if (isTcp && checkToken !== undefined && tls === undefined && !isLoopbackHost(place.host))
      this.#log.warn('the token goes over the network in the clear; set security.tls', { host: place.host });
    const listener = await Listener.open(place, {
      onSocket: (socket, name) => this.#add(socket, name, isTcp),
      farewell: () => this.#farewell(),
      maxClients: () => this.#config.limits.max_clients,
      inside: this.#inside,
      log: this.#log,
      ...(isTcp && tls !== undefined && { tls }),
    });
    this.#listeners.add(listener);
    return listener;
  }

  /** Serves numbers for Prometheus at `HOST:PORT`. Gives the address, with the port that was chosen. */
  async listenMetrics(address: string, options: { readonly allowRemote?: boolean } = {}): Promise<string> {
    const where = parseListenAddress(address);
    this.#access.assertMayListen(where.host, options.allowRemote === true);
    const { openMetricsServer } = await import('./listen/metrics-server.js');
    const server = await openMetricsServer(where, {
      report: () => this.report(),
      access: this.#access,
      log: this.#log,
    });
    this.#metrics.add(server);
    const url = `${server.address?.kind === 'tcp' ? server.address.url : address}/metrics`;
    this.#log.info('metrics are served', { url });
    return url;
  }

  /** Serves the client at the other end of `link`: a socket, or a pair of streams or descriptors. */
  accept(link: ClientStream, options: AcceptOptions = {}): BusClientHandle {
    return this.#track(
      this.router.addClient(link, {
        framing: options.framing ?? this.#config.transport.framing,
        name: options.name ?? `client#${(this.#connected += 1)}`,
        trusted: true,
      }),
    );
  }

  /** A client inside this process: lines written to it are messages, lines read from it are answers. */
  connect(options: AcceptOptions = {}): Duplex {
    const [ours, theirs] = linkedPair();
    this.accept(ours.input as Duplex, { framing: 'ndjson', ...options });
    return theirs.input as Duplex;
  }

  report(): BusReport {
    return describeBus({
      version: VERSION,
      startedAtMs: this.#startedAtMs,
      stats: this.router.stats(),
      pools: [...this.#pools.values()],
      places: this.places,
      draining: this.#draining !== undefined,
    });
  }

  /** Replaces the workers of one pool, or of all, one after the other. Gives the number of workers replaced. */
  async restart(pool?: string): Promise<number> {
    const chosen = pool === undefined ? [...this.#pools.values()] : [this.#poolOf(pool)];
    return await this.#changes.run(async () => {
      let replaced = 0;
      for (const each of chosen) {
        this.#log.info('the workers of a pool are replaced', { pool: each.config.id });
        await each.restart();
        replaced += each.places.length;
      }
      return replaced;
    });
  }

  /**
   * Takes on another configuration without losing a client: pools that are new are started, pools that are gone leave
   * when their work is done, pools that have changed are replaced worker by worker. Rejects, and all stays as it was,
   * when the configuration is wrong.
   */
  async reload(input: BusConfigInput): Promise<void> {
    const next = checkConfig(input, 'configuration');
    await this.#changes.run(async () => {
      this.#assertGoesOn(); // a pool that is started now would be ended by nobody
      const before = this.#config;
      const changed = next.pools.filter((pool) => !isSame(pool, this.#pools.get(pool.id)?.config));
      for (const pool of changed) {
        const problem = findProgramProblem(pool, this.#env);
        if (problem !== undefined) throw new LocalError('bad_pool', problem);
      }
      this.#access.reload(next.security);
      const { secureContext } = this.#access;
      if (secureContext !== undefined)
        for (const door of [...this.#listeners, ...this.#metrics]) door.renewTls(secureContext);
      if (!isSame(before.transport, next.transport))
        this.#log.warn('a changed "transport" takes effect when the bus is started again');
      this.#config = next;
      this.router.update(toRouterSettings(next));
      await this.#changePools(next, changed);
      this.#log.info('the configuration was read again', {
        pools: next.pools.length,
        changed: changed.length,
      });
    });
  }

  /**
   * Lets nobody in, refuses new requests, waits for those under way, then ends the workers and closes. Gives the number
   * of requests that were not answered in time.
   */
  drain(timeoutMs: number = this.#config.limits.drain_timeout_sec * 1000): Promise<number> {
    this.#draining ??= this.#drain(timeoutMs);
    return this.#draining;
  }

  /** At once: whatever is under way is answered with an error where it can be, and every worker is killed. */
  protected override async release(reason: Error): Promise<void> {
    this.router.refuseNew();
    const stopped = [
      ...Array.from(this.#listeners, (listener) => listener.close(reason)),
      ...Array.from(this.#metrics, (server) => server.close(reason)),
      ...Array.from(this.#pools.values(), (pool) => pool.close(reason)),
    ];
    try {
      await settleAll(stopped);
    } finally {
      this.router.close();
      for (const client of this.#clients) client.close('the bus is closed');
      await Promise.all(Array.from(this.#clients, ({ closed }) => closed));
    }
  }

  async #drain(timeoutMs: number): Promise<number> {
    const endMs = performance.now() + timeoutMs;
    this.#log.info('draining', { pending: this.router.pending(), timeout_ms: Math.round(timeoutMs) });
    await settleAll(Array.from(this.#listeners, (listener) => listener.close()));
    this.router.refuseNew();
    using limit = deadline(timeoutMs, { also: [this.signal] });
    await withSignal(this.router.idle(), limit.signal).catch(() => {});
    const unanswered = this.router.pending();
    if (unanswered > 0)
      this.#log.warn('the drain is over and requests are unanswered', { pending: unanswered });
    const graceMs = Math.min(MOST_GRACE_MS, Math.max(LEAST_GRACE_MS, endMs - performance.now()));
    try {
      await settleAll(Array.from(this.#pools.values(), (pool) => pool.stop({ graceMs })));
    } finally {
      await this.close();
    }
    return unanswered;
  }

  async #changePools(next: BusConfig, changed: readonly PoolConfig[]): Promise<void> {
    const kept = new Set(next.pools.map(({ id }) => id));
    const tasks: Promise<void>[] = [];
    for (const [id, pool] of this.#pools) {
      if (kept.has(id)) continue;
      this.#pools.delete(id);
      this.#log.info('a pool leaves', { pool: id });
      tasks.push(pool.stop({ pendingMs: next.limits.drain_timeout_sec * 1000 }));
    }
    for (const config of changed) {
      const pool = this.#pools.get(config.id);
      if (pool === undefined) this.#pools.set(config.id, this.#newPool(config));
      else tasks.push(pool.change(config));
    }
    for (const outcome of await Promise.allSettled(tasks))
      if (outcome.status === 'rejected')
        this.#log.error('a pool could not be changed', { reason: toError(outcome.reason).message });
  }

  #newPool(config: PoolConfig): Pool {
    return new Pool(config, {
      env: this.#env,
      log: this.#log,
      onStderr: this.#onStderr,
      router: this.router,
      restart: () => ({
        maxRestarts: this.#config.limits.max_restarts,
        windowMs: this.#config.limits.restart_window_sec * 1000,
      }),
      pendingMs: () => this.#config.limits.drain_timeout_sec * 1000,
    });
  }

  #add(socket: Duplex, name: string, isTcp: boolean): void {
    const { checkToken } = this.#access;
    const guard = isTcp && checkToken !== undefined ? new TokenGuard(checkToken) : undefined;
    const client = this.router.addClient(socket, {
      framing: this.#config.transport.framing,
      name,
      // A unix socket is its owner's alone, and TCP is loopback or guarded: `listen` has seen to it.
      trusted: true,
      ...(guard !== undefined && { checkToken: guard.check }),
    });
    this.#track(client);
    guard?.watch(client, this.#log);
  }

  #track(client: BusClientHandle): BusClientHandle {
    this.#clients.add(client);
    void client.closed.then(() => this.#clients.delete(client));
    return client;
  }

  #farewell(): Buffer {
    const draining = this.#draining !== undefined || this.closing;
    const line = draining
      ? errorLine('null', SHUTTING_DOWN, {
          reason: 'shutting_down',
          hint: 'the bus finishes what is under way and ends; connect again later',
        })
      : errorLine('null', OVERLOADED, {
          reason: 'too_many_clients',
          hint: 'try again later, or raise limits.max_clients',
          maxClients: this.#config.limits.max_clients,
        });
    const body = Buffer.from(line);
    if (this.#config.transport.framing === 'ndjson') return Buffer.concat([body, Buffer.from('\n')]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    return Buffer.concat([head, body]);
  }

  #assertGoesOn(): void {
    if (this.closing || this.#draining !== undefined) throw new ClosedError('the bus');
  }

  #poolOf(id: string): Pool {
    const pool = this.#pools.get(id);
    if (pool === undefined)
      throw new LocalError('unknown_pool', `there is no pool ${JSON.stringify(id)}`, {
        facts: { pools: [...this.#pools.keys()] },
      });
    return pool;
  }

  async #restartAsked(params: unknown): Promise<unknown> {
    const pool: unknown = (params as { pool?: unknown } | null | undefined)?.pool;
    if (pool !== undefined && typeof pool !== 'string')
      throw new LocalError('bad_params', 'params.pool: expected the id of a pool');
    return { restarted: await this.restart(pool) };
  }

  #onRubbish(worker: number, lines: number): void {
    for (const pool of this.#pools.values())
      pool.find(worker)?.fail(`it has printed ${lines} lines that are no messages`);
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
