// rexd for many clients: HTTP and WebSocket on a port, lines on a unix socket, until it is told to end.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import { createBrowserGuard } from '../../guard/browser-guard.js';
import { isLoopbackHost } from '../../guard/listen-address.js';
import type { HttpListenOptions } from '../../wire/http/address.js';
import { BodyBudget } from '../../wire/http/body-budget.js';
import { HttpServer, type RequestGuard } from '../../wire/http/server.js';
import type { CallHandler } from '../../wire/jsonrpc/call-server.js';
import type { CallReport } from '../../wire/jsonrpc/router.js';
import { MAX_LINE_BYTES } from '../../wire/ndjson/line-splitter.js';
import type { Link } from '../../wire/transport/link.js';
import {
  listenSocket,
  type PassedSocket,
  type SocketAddress,
  type SocketListener,
} from '../../wire/transport/socket.js';
import type { CallContext } from '../context.js';
import { SESSION_OPEN } from '../protocol/open-bounds.js';
import type { RexdServer } from '../server.js';
import type { DaemonSettings } from '../settings.js';
import type { Access } from './access.js';
import { Holders } from './holders.js';
import { assertMayListen } from './remote-consent.js';
import { type Carrier, type Metrics, openMetrics } from './metrics.js';
import { daemonRoutes, errorStyle } from './routes.js';
import { WebSockets } from './web-sockets.js';

/** Requests being answered at the same time, long ones included; one more is told to come later. */
export const MAX_REQUESTS_IN_FLIGHT = 512;
/** What one POST may carry: as much as one line does. */
export const MAX_POST_BYTES = MAX_LINE_BYTES;
/** What all POSTs together may carry until they are answered; one more large one is told to come later. */
export const MAX_POSTED_BYTES = 8 * MAX_POST_BYTES;

export interface DaemonOptions {
  readonly server: RexdServer;
  readonly settings: DaemonSettings;
  /** Where HTTP is served. With any, `access` must be guarded. */
  readonly http: readonly HttpListenOptions[];
  /** Where lines are served. */
  readonly unix: readonly (SocketAddress | PassedSocket)[];
  readonly access: Access;
  readonly log: Log;
}

export class Daemon extends Resource {
  readonly #options: DaemonOptions;
  readonly #http: HttpServer[] = [];
  readonly #unix: SocketListener[] = [];
  readonly #bodies = new BodyBudget(MAX_POSTED_BYTES);
  readonly #holders: Holders;
  readonly #webSockets: WebSockets;
  readonly #gate: Pick<Access, 'authorise'>;
  #metrics!: Metrics;

  /** Resolves when all of it is listening; rejects, with nothing left open, if one cannot. */
  static async open(options: DaemonOptions): Promise<Daemon> {
    const daemon = new Daemon(options);
    try {
      await daemon.#listen();
      return daemon;
    } catch (thrown) {
      await daemon.close();
      throw thrown;
    }
  }

  private constructor(options: DaemonOptions) {
    super();
    this.#options = options;
    this.#holders = new Holders(() => options.server.hold({ idleMs: options.settings.session_idle_ms }));
    this.#gate = { authorise: (req) => this.#authorise(req) };
    this.#webSockets = new WebSockets({
      path: options.settings.ws_path,
      access: this.#gate,
      onLink: (link) => this.#serve(link),
    });
  }

  /** Where it can be reached, as people write it. */
  get places(): string[] {
    const { unix } = this.#options;
    return [
      ...this.#http.flatMap(({ address }) => (address?.kind === 'tcp' ? [address.url] : [])),
      ...unix.map((where) => ('path' in where ? `unix:${where.path}` : 'a unix socket that was passed')),
    ];
  }

  /** Told of every call by the server it serves. */
  onCall(report: CallReport<CallContext>): void {
    this.#metrics.onCall(report);
  }

  /** The token and the certificates, from their files once more. Connections that are open stay. */
  reload(): void {
    const { access, log } = this.#options;
    try {
      access.reload();
      if (access.secureContext !== undefined)
        for (const http of this.#http) http.renewTls(access.secureContext);
      log.info('token and certificates were read again');
    } catch (thrown) {
      log.error('what was read before holds on', { reason: toError(thrown).message });
    }
  }

  /** Nobody new comes in; programs end, and their clients hear of it; then the rest. */
  protected override async release(reason: Error): Promise<void> {
    const closing = this.#http.map((http) => http.close(reason));
    await this.#options.server.close(reason);
    await Promise.all([...closing, ...this.#unix.map((listener) => listener.close())]);
  }

  async #listen(): Promise<void> {
    const { http, unix, access } = this.#options;
    if (http.length > 0) access.assertGuarded();
    this.#metrics = await openMetrics({
      load: () => this.#options.server.load(),
      connections: () => this.#connections(),
      inFlight: () => this.#http.reduce((sum, http) => sum + http.inFlight, 0),
    });
    for (const where of http) await this.#listenHttp(where);
    for (const where of unix) {
      const listener = await listenSocket(where, {
        onLink: (link) => {
          this.#metrics.watchBytes('unix', link.input as Socket);
          this.#serve(link);
        },
        log: this.#options.log,
      });
      this.#unix.push(listener);
    }
  }

  async #listenHttp(where: HttpListenOptions): Promise<void> {
    const { settings, access, log } = this.#options;
    const { tls } = access;
    const consent = { ...settings, hasTls: tls !== undefined };
    if (where.fd === undefined && where.path === undefined && where.host !== undefined)
      assertMayListen(where.host, consent);
    const http = new HttpServer({
      routes: daemonRoutes({
        access: this.#gate,
        metrics: this.#metrics,
        bodies: this.#bodies,
        callsOf: (holder) => this.#callsOf(holder),
        paths: { rpc: settings.http_path, ws: settings.ws_path },
      }),
      errors: errorStyle(settings.http_path),
      guard: this.#guard(where),
      headers: { 'X-Content-Type-Options': 'nosniff' },
      onUpgrade: async (upgrade) => {
        this.#metrics.watchBytes('ws', upgrade.socket);
        await this.#webSockets.accept(upgrade);
      },
      log,
      settings: { maxBodyBytes: MAX_POST_BYTES, maxInFlight: MAX_REQUESTS_IN_FLIGHT },
      ...(tls !== undefined && { tls }),
    });
    this.#http.push(http);
    const address = await http.listen(where);
    // Of a socket that was passed it is known only now where it is. Nothing has been accepted yet.
    if (address.kind === 'tcp') assertMayListen(address.host, consent);
  }

  #authorise(req: IncomingMessage): string {
    try {
      return this.#options.access.authorise(req);
    } catch (thrown) {
      this.#metrics.onRefused('unauthorized');
      this.#options.log.debug('not authorised', { from: req.socket.remoteAddress });
      throw thrown;
    }
  }

  #guard(where: HttpListenOptions): RequestGuard {
    const { settings } = this.#options;
    const own =
      'host' in where && where.host !== undefined && !isLoopbackHost(where.host) ? [bracket(where.host)] : [];
    const guard = createBrowserGuard({ hosts: [...settings.allowed_hosts, ...own] });
    return (req) => {
      const refusal = guard(req);
      if (refusal !== undefined) this.#metrics.onRefused(refusal.code);
      return refusal;
    };
  }

  #serve(link: Link): void {
    if (this.closing) void link.close();
    else void this.#options.server.serve(link);
  }

  #callsOf(holder: string): CallHandler {
    return (call) => {
      // Nobody would learn the id of a session that is opened without an answer; it would only hold a place.
      if (call.id === undefined && call.method === SESSION_OPEN) return undefined;
      return this.#holders.of(holder).call(call);
    };
  }

  #connections(): Record<Carrier, number> {
    const ws = this.#webSockets.size;
    const all = this.#http.reduce((sum, http) => sum + http.connections, 0);
    return { http: all - ws, ws, unix: this.#unix.reduce((sum, each) => sum + each.connections, 0) };
  }
}

function bracket(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
