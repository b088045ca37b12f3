// The daemon: agents, inbox and runtimes behind one HTTP server on the loopback, until it is told to end.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import { AuditLog } from '../../guard/audit.js';
import { createBrowserGuard, PERMISSIVE_WARNING } from '../../guard/browser-guard.js';
import { makeFolders } from '../../host/make-folders.js';
import type { FileLock } from '../../host/store/file-lock.js';
import { HttpServer, type RequestGuard } from '../../wire/http/server.js';
import { AgentStore } from '../agents/agent-store.js';
import type { StringdConfig } from '../config.js';
import { Inbox } from '../events/inbox.js';
import { MAX_WEBHOOK_BYTES_PER_SECOND, RateLimit } from '../events/rate-limit.js';
import { Retention } from '../events/retention.js';
import { CORS_HEADERS, MAX_BODY_BYTES, SHUTDOWN_GRACE_MS } from '../protocol.js';
import type { DaemonControl } from '../services.js';
import { AgentLives } from './agent-lives.js';
import { Agents } from './agents.js';
import { lockDataDir } from './data-lock.js';
import { toEntry } from './decision-entry.js';
import { Executor } from './executor.js';
import { McpRoute } from './mcp-route.js';
import { Metrics } from './metrics.js';
import { daemonRoutes, ERROR_STYLE } from './routes.js';
import { Running } from './running.js';
import { Runtimes } from './runtimes.js';
import { Stats } from './stats.js';
import { TopicLanes } from './topic-lanes.js';
import { WAITS, type Waits } from './waits.js';

const HOST = '127.0.0.1';
/** Requests being answered at the same time, waiting commands and streams included; one more is told to come later. */
export const MAX_REQUESTS_IN_FLIGHT = 2048;

export interface StringDaemonOptions {
  readonly config: StringdConfig;
  readonly log: Log;
  /** `permissive` lets every web page in. */
  readonly cors?: 'guarded' | 'permissive';
  readonly waits?: Partial<Waits>;
  /** Somebody has asked for the end: by /shutdown, or in the system hub. */
  readonly onStop: () => void;
}

export class StringDaemon extends Resource {
  readonly #options: StringDaemonOptions;
  readonly #stats = new Stats();
  readonly #lives = new AgentLives();
  readonly #running = new Running();
  readonly #waits: Waits;
  readonly #lanes: TopicLanes;
  #lock: FileLock | undefined;
  #decisions!: AuditLog;
  #inbox!: Inbox;
  #retention!: Retention;
  #agents!: Agents;
  #runtimes!: Runtimes;
  #mcp!: McpRoute;
  #http!: HttpServer;
  #url = '';
  #port = 0;

  /** Resolves when it is listening; rejects, with nothing left open, when it cannot. */
  static async open(options: StringDaemonOptions): Promise<StringDaemon> {
    const daemon = new StringDaemon(options);
    try {
      await daemon.#open();
      return daemon;
    } catch (thrown) {
      await daemon.close();
      throw thrown;
    }
  }

  private constructor(options: StringDaemonOptions) {
    super();
    this.#options = options;
    this.#waits = { ...WAITS, ...options.waits };
    this.#lanes = new TopicLanes(this.#waits.queueMs);
  }

  /** `http://127.0.0.1:PORT`. */
  get url(): string {
    return this.#url;
  }

  get port(): number {
    return this.#port;
  }

  async #open(): Promise<void> {
    const { config, log } = this.#options;
    makeFolders(config.dataDir);
    this.#lock = await lockDataDir(config.dataDir);
    this.#decisions = new AuditLog({
      path: join(config.dataDir, 'policy.jsonl'),
      onError: (error) => log.error('decisions cannot be noted', { error: error.message }),
    });
    this.#inbox = await Inbox.open(join(config.dataDir, 'events.db'));
    this.#retention = new Retention(this.#inbox, config.events, log);
    const store = await AgentStore.open({
      file: join(config.dataDir, 'agents.json'),
      homesDir: config.homesDir,
      adoptHomes: config.adoptHomes,
    });
    this.#agents = new Agents({
      store,
      lives: this.#lives,
      runtimes: () => this.#runtimes,
      url: () => this.#url,
      root: config.root,
    });
    const services = { events: this.#inbox, agents: this.#agents, daemon: this.#control() };
    const topics = { strict: config.strictTopics };
    this.#runtimes = new Runtimes({
      dataDir: config.dataDir,
      toolsDir: join(config.root, 'tools'),
      services,
      log,
      topics,
      fullAccess: config.fullAccess,
      note: (agentId, decision) => this.#decisions.record(toEntry(agentId, decision)),
    });
    if (config.fullAccess) log.warn('agents may reach every file of this machine (STRING_ACCESS=full)');
    this.#runtimes.restore(store.list());
    await this.#listen(store);
  }

  async #listen(store: AgentStore): Promise<void> {
    const { config, log } = this.#options;
    const { inbox, lanes, runtimes, stats, lives, running } = this.#members();
    const executor = new Executor({ ...this.#members(), strictTopics: config.strictTopics });
    const rate = {
      eventsPerSecond: config.events.eventsPerSecond,
      bytesPerSecond: MAX_WEBHOOK_BYTES_PER_SECOND,
    };
    this.#mcp = new McpRoute({
      agents: this.#agents,
      executor,
      onError: (error) => log.debug('mcp', { error: error.message }),
      progressBeatMs: this.#waits.progressBeatMs,
    });
    this.#http = new HttpServer({
      routes: daemonRoutes({
        agents: this.#agents,
        exec: { agents: store, executor, running, waits: this.#waits },
        events: {
          agents: store,
          inbox,
          stats,
          lives,
          rates: new RateLimit(rate),
          redeliverGraceMs: config.events.redeliverGraceMs,
          pingMs: this.#waits.streamPingMs,
        },
        sessions: { agents: store, executor, lanes, runtimes },
        mcp: this.#mcp,
        metrics: new Metrics({
          stats,
          agents: () => store.size,
          sessions: () => runtimes.topics,
          executing: () => lanes.busy,
          connections: () => this.#http.connections,
        }),
        health: () => ({ agents: store.size, sessions: runtimes.topics }),
        shutDown: () => this.#stopSoon(),
        url: () => this.#url,
      }),
      errors: ERROR_STYLE,
      headers: CORS_HEADERS,
      guard: this.#guard(),
      log,
      settings: { maxBodyBytes: MAX_BODY_BYTES, maxInFlight: MAX_REQUESTS_IN_FLIGHT },
    });
    const address = await this.#http.listen({ host: HOST, port: config.port });
    if (address.kind === 'tcp') [this.#url, this.#port] = [address.url, address.port];
  }

  #members() {
    return {
      inbox: this.#inbox,
      lanes: this.#lanes,
      runtimes: this.#runtimes,
      stats: this.#stats,
      lives: this.#lives,
      running: this.#running,
    };
  }

  #guard(): RequestGuard {
    const { cors, log } = this.#options;
    if (cors === 'permissive') log.warn(PERMISSIVE_WARNING);
    const guard = createBrowserGuard(cors === 'permissive' ? { mode: 'permissive' } : {});
    return (req) => {
      const refusal = guard(req);
      if (refusal !== undefined) this.#stats.onRefused(refusal.code);
      return refusal;
    };
  }

  #control(): DaemonControl {
    return {
      status: () => ({
        port: this.#port,
        agents: this.#agents.store.size,
        sessions: this.#runtimes.topics,
      }),
      stop: () => this.#stopSoon(),
      webhookUrl: (id) => this.#agents.webhookUrl(id),
      rotateWebhook: (id) => this.#agents.rotateWebhook(id),
    };
  }

  #stopSoon(): void {
    void delay(SHUTDOWN_GRACE_MS).then(() => this.#options.onStop());
  }

  /** Nobody new comes in; commands may end; then shells and streams; the inbox last. */
  protected override async release(reason: Error): Promise<void> {
    await this.#http?.close(reason);
    await this.#mcp?.close();
    await this.#runtimes?.close();
    await this.#retention?.close();
    await this.#inbox?.close();
    await this.#decisions?.close();
    await this.#lock?.close();
  }
}
