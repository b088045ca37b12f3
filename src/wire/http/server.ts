// An HTTP/1.1 server on node:http or node:https: routes in, capped and guarded requests through, an orderly close at the end.

import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { newAbort } from '../../base/abort.js';
import { errnoOf, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { ClosedError, Resource } from '../../base/resource.js';
import {
  type Bound,
  type HttpAddress,
  type HttpListenOptions,
  listen,
  ListenError,
  nameOf,
} from './address.js';
import { Connections } from './connections.js';
import { type Exchange, RequestContext } from './context.js';
import { ClientGoneError, errorBody, type ErrorStyle, HttpError, toHttpError } from './errors.js';
import { replyRaw } from './raw-reply.js';
import { allowHeader, hasOneHost, malformed, unmatched } from './refusals.js';
import { sendEmpty, sendJson } from './reply.js';
import { responseWith } from './response.js';
import { type Match, type Route, Router } from './router.js';
import { HTTP_DEFAULTS, type HttpSettings } from './settings.js';
import { parseTarget, type Target } from './target.js';

/** Why a request may not come in. Sync and over the head only, so that it costs nothing and nothing comes before it. */
interface GuardRefusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: OutgoingHttpHeaders;
}
export type RequestGuard = (req: IncomingMessage) => GuardRefusal | undefined;

export interface UpgradeRequest {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly target: Target;
  readonly draining: AbortSignal;
}

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly log: Log;
  /** Asked before anything else, for every request and upgrade. */
  readonly guard?: RequestGuard;
  /** Sent with every answer of any kind, errors included. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: ErrorStyle;
  /** Takes over the connection of a guarded upgrade request, or throws HttpError to have it refused. */
  readonly onUpgrade?: (upgrade: UpgradeRequest) => void | Promise<void>;
  readonly settings?: Partial<HttpSettings>;
  /** Given, nothing is spoken but TLS. */
  readonly tls?: TlsOptions;
}

export class HttpServer extends Resource {
  readonly #options: HttpServerOptions;
  readonly #settings: HttpSettings;
  readonly #errors: ErrorStyle;
  readonly #router: Router;
  readonly #server: Server | SecureServer;
  readonly #connections = new Connections();
  readonly #draining = newAbort();
  #address: HttpAddress | undefined;
  /** From the beginning of `listen`, unless it fails. */
  #bound: Promise<Bound> | undefined;
  /** Connections are being dropped; said once until one is accepted again. */
  #full = false;

  constructor(options: HttpServerOptions) {
    super();
    this.#options = options;
    this.#settings = { ...HTTP_DEFAULTS, ...options.settings };
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      validateHeaderName(name); // now, and not with every answer
      validateHeaderValue(name, value);
    }
    this.#errors = options.errors ?? {};
    this.#router = new Router(options.routes);
    this.#server = this.#create();
  }

  /** Where the server listens; undefined before `listen` and after `close`. */
  get address(): HttpAddress | undefined {
    return this.#address;
  }

  get routes(): readonly Route[] {
    return this.#router.routes;
  }

  get connections(): number {
    return this.#connections.size;
  }

  get inFlight(): number {
    return this.#connections.inFlight;
  }

  /** Resolves once connections are accepted, with the address: the port, too, when 0 was asked for. */
  async listen(options: HttpListenOptions = {}): Promise<HttpAddress> {
    if (this.closing) throw new ClosedError('HTTP server');
    if (this.#bound !== undefined) throw new ListenError(nameOf(options), new Error('listening already'));
    const { address } = await (this.#bound = this.#bind(options));
    if (this.closing) throw new ClosedError('HTTP server');
    this.#address = address;
    this.#options.log.info('listening', { ...address });
    return address;
  }

  async #bind(options: HttpListenOptions): Promise<Bound> {
    try {
      return await listen(this.#server, options, this.#options.tls === undefined ? 'http' : 'https');
    } catch (thrown) {
      this.#bound = undefined; // elsewhere it may work
      throw thrown;
    }
  }

  /** No new connections; idle ones close now, busy ones when they are done or when the grace is over. */
  protected async release(reason: Error): Promise<void> {
    this.#address = undefined;
    this.#draining.abort(reason);
    const grace = setTimeout(() => this.#connections.destroyAll(), this.#settings.graceMs);
    const idle = this.#connections.closeWhenIdle(); // those that still come in are dropped from now on
    await this.#stopListening();
    await idle;
    clearTimeout(grace);
  }

  async #stopListening(): Promise<void> {
    // What has begun to listen cannot be closed before it does.
    const bound = await this.#bound?.catch(() => undefined);
    // The file first: as long as it is there somebody answers, so nobody takes it for a dead one meanwhile.
    await bound?.remove();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Certificates that take the place of those there are; connections that are open keep theirs. */
  renewTls(context: SecureContextOptions): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(context);
  }

  #create(): Server | SecureServer {
    const settings = this.#settings;
    const { tls } = this.#options;
    const basics = {
      maxHeaderSize: settings.maxHeaderBytes,
      headersTimeout: settings.headersMs,
      requestTimeout: settings.requestMs,
      connectionsCheckingInterval: settings.checkMs,
      keepAliveTimeout: settings.keepAliveMs,
      ServerResponse: responseWith(this.#options.headers ?? {}),
      requireHostHeader: false, // we refuse it ourselves, with the headers every answer must have
    };
    const server =
      tls === undefined
        ? createServer(basics)
        : createSecureServer({ handshakeTimeout: settings.headersMs, ...tls, ...basics });
    server.maxConnections = settings.maxConnections;
    // Past a count node:http drops headers without a word, and the guard would not see them; their bytes are capped.
    server.maxHeadersCount = 0;
    const take = (req: IncomingMessage, res: ServerResponse): void => this.#take(req, res);
    server.on('request', take);
    server.on('checkContinue', take); // `readBody` says when to continue
    server.on('checkExpectation', (req, res) =>
      this.#take(req, res, new HttpError(417, 'expectation_failed', 'only 100-continue can be expected')),
    );
    server.on('connection', (socket) => {
      this.#full = false;
      if (tls === undefined) this.#connections.add(socket);
      else this.#connections.addHandshake(socket);
    });
    if (tls !== undefined) server.on('secureConnection', (socket: Socket) => this.#connections.add(socket));
    server.on('drop', () => {
      if (!this.#full) this.#options.log.warn('connections refused: too many are open');
      this.#full = true;
    });
    server.on('tlsClientError', (error: Error, socket: Socket) => {
      this.#options.log.debug('no TLS came about', { error: error.message });
      socket.destroy();
    });
    server.on('clientError', (error, socket) => this.#refuseMalformed(error, socket as Socket));
    server.on('connect', (_req, socket) =>
      this.#refuseRaw(socket as Socket, new HttpError(405, 'method_not_allowed', 'this is not a proxy')),
    );
    if (this.#options.onUpgrade !== undefined)
      server.on('upgrade', (req, socket, head) => void this.#upgrade(req, socket as Socket, head));
    server.on('error', (error) => {
      // Accepting has failed, most likely for want of descriptors; `listen` reports what goes wrong before that.
      if (this.#address !== undefined) this.#options.log.error('cannot accept', { error: error.message });
    });
    return server;
  }

  #take(req: IncomingMessage, res: ServerResponse, refusal?: HttpError): void {
    const exchange: Exchange = { req, res, settings: this.#settings };
    res.on('error', ignore); // a write after the end of the answer: a handler's mistake must not end the process
    if (this.closing) res.shouldKeepAlive = false;
    const target = parseTarget(req.url ?? '');
    try {
      const refused = this.#refuse(req, target) ?? refusal;
      this.#connections.begin(req.socket, res);
      if (refused !== undefined) throw refused;
      this.#route(exchange, target ?? NO_TARGET);
    } catch (thrown) {
      this.#fail(exchange, target, thrown);
    }
  }

  #route(exchange: Exchange, target: Target): void {
    const method = exchange.req.method ?? '';
    const match = this.#router.match(method, target.path);
    if (match.kind === 'found') void this.#run(exchange, target, match);
    else if (match.kind === 'options') sendEmpty(exchange, 204, allowHeader(match.allow));
    else throw unmatched(match, method, target.path);
  }

  async #run(exchange: Exchange, target: Target, match: Match & { kind: 'found' }): Promise<void> {
    const { req, res, settings } = exchange;
    const { route, params } = match;
    const { log } = this.#options;
    const draining = this.#draining.signal;
    const ctx = new RequestContext({ req, res, settings, route, params, target, log, draining });
    try {
      await route.handler(ctx);
      if (!res.headersSent && !res.destroyed) throw new Error('the handler has given no answer');
    } catch (thrown) {
      this.#fail(exchange, target, thrown, route);
    }
  }

  /** What stands between any request and its route, guard first. */
  #refuse(req: IncomingMessage, target: Target | undefined): HttpError | undefined {
    const refusal = this.#options.guard?.(req);
    if (refusal !== undefined)
      return new HttpError(refusal.status, refusal.code, refusal.message, { headers: refusal.headers ?? {} });
    if (this.closing) return new HttpError(503, 'closing', 'the server is closing');
    if (this.#connections.inFlight >= this.#settings.maxInFlight)
      return new HttpError(503, 'overloaded', 'too many requests are being answered');
    if ((req.url?.length ?? 0) > this.#settings.maxUrlBytes)
      return new HttpError(414, 'uri_too_long', `the URL exceeds ${this.#settings.maxUrlBytes} bytes`);
    if (target === undefined)
      return new HttpError(400, 'bad_request', 'the request target is not understood');
    if (!hasOneHost(req)) return new HttpError(400, 'bad_request', 'a request must have exactly one Host');
    return undefined;
  }

  #fail(exchange: Exchange, target: Target | undefined, thrown: unknown, route?: Route): void {
    const { req, res } = exchange;
    const { log } = this.#options;
    const facts = { method: req.method, route: route?.path };
    const gone = res.destroyed && !res.writableFinished;
    if (gone || isDeparture(thrown))
      log.debug('request abandoned', { ...facts, error: toError(thrown).message });
    else if (!(thrown instanceof HttpError))
      log.error('request failed', { ...facts, error: toError(thrown).stack });
    if (gone || res.writableEnded) return;
    // Half an answer cannot be taken back: cutting it off is the only way left to say that it is not whole.
    if (res.headersSent) return void res.destroy();
    try {
      const error = toHttpError(thrown, this.#errors);
      const subject = { method: req.method ?? '', path: target?.path ?? req.url ?? '' };
      sendJson(exchange, error.status, errorBody(error, subject, this.#errors), error.headers);
    } catch (bug) {
      log.error('error could not be answered', { ...facts, error: toError(bug).stack });
      res.destroy();
    }
  }

  async #upgrade(req: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', ignore); // node:http has let go of the socket, its error listener included
    this.#connections.upgrade(socket);
    const target = parseTarget(req.url ?? '');
    try {
      const refused = this.#refuse(req, target);
      if (refused !== undefined) throw refused;
      const draining = this.#draining.signal;
      await this.#options.onUpgrade?.({ req, socket, head, target: target ?? NO_TARGET, draining });
    } catch (thrown) {
      if (!(thrown instanceof HttpError))
        this.#options.log.error('upgrade failed', { error: toError(thrown).stack });
      this.#refuseRaw(socket, thrown, { method: req.method ?? '', path: target?.path ?? '' });
    }
  }

  /** node:http could not make a request of what came. It says so again for every further byte of it. */
  #refuseMalformed(error: Error, socket: Socket): void {
    if (socket.writableEnded) {
      if (socket.bytesRead > this.#settings.maxDrainBytes) socket.destroy();
      return;
    }
    if (this.#connections.isMidAnswer(socket) || errnoOf(error) === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    this.#refuseRaw(socket, malformed(error));
  }

  #refuseRaw(socket: Socket, thrown: unknown, subject = { method: '', path: '' }): void {
    try {
      const error = toHttpError(thrown, this.#errors);
      const headers = { ...this.#options.headers, ...error.headers };
      const body = errorBody(error, subject, this.#errors);
      replyRaw(socket, { status: error.status, headers, body }, this.#settings.drainMs);
    } catch (bug) {
      this.#options.log.error('error could not be answered', { error: toError(bug).stack });
      socket.destroy();
    }
  }
}

/** Never reached: a target that is not understood has been refused before. */
const NO_TARGET: Target = { path: '', query: '' };

/** Nobody is to blame when the other side has left or the stream was closed under a sender. */
function isDeparture(thrown: unknown): boolean {
  return thrown instanceof ClientGoneError || thrown instanceof ClosedError;
}

function ignore(): void {}
