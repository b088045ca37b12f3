// What a handler is given: one request, its response, and everything known about the two.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { newAbort } from '../../base/abort.js';
import type { Log } from '../../base/log.js';
import { ClientGoneError } from './errors.js';
import type { Route } from './router.js';
import type { HttpSettings } from './settings.js';
import type { Target } from './target.js';

/** The part of a context that reading and replying need. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly settings: HttpSettings;
}

export interface ContextParts<Params> extends Exchange {
  readonly target: Target;
  readonly route: Route;
  readonly params: Params;
  readonly log: Log;
  readonly draining: AbortSignal;
}

/** Most requests use few of these, so what costs something is made when it is first asked for. */
export class RequestContext<Params = Readonly<Record<string, string>>> implements Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly settings: HttpSettings;
  readonly route: Route;
  readonly params: Params;
  /** Aborts when the server begins to close: a stream without an end should end then. */
  readonly draining: AbortSignal;
  readonly #target: Target;
  readonly #serverLog: Log;
  #query: URLSearchParams | undefined;
  #log: Log | undefined;
  #gone: AbortController | undefined;

  constructor(parts: ContextParts<Params>) {
    this.req = parts.req;
    this.res = parts.res;
    this.settings = parts.settings;
    this.route = parts.route;
    this.params = parts.params;
    this.draining = parts.draining;
    this.#target = parts.target;
    this.#serverLog = parts.log;
  }

  /** As the client spelled it, percent-encoding and all. */
  get path(): string {
    return this.#target.path;
  }

  /** Whether there is anything to ask `query` for, which costs something. */
  get hasQuery(): boolean {
    return this.#target.query !== '';
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#target.query);
    return this.#query;
  }

  /** The host in it is always `localhost`: what the client claims to have called is not to be relied on. */
  get url(): URL {
    const { path, query } = this.#target;
    return new URL(`http://localhost${path}${query === '' ? '' : `?${query}`}`);
  }

  /** Aborts with ClientGoneError when the client leaves before the answer is complete. */
  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = newAbort();
      this.#gone = gone;
      const leave = (): void => {
        if (!this.res.writableFinished) gone.abort(new ClientGoneError());
      };
      if (this.res.closed || this.res.destroyed) leave();
      else this.res.once('close', leave);
    }
    return this.#gone.signal;
  }

  /** Names the route, not the path: a path may hold a token. */
  get log(): Log {
    this.#log ??= this.#serverLog.child({ method: this.req.method, route: this.route.path });
    return this.#log;
  }
}
