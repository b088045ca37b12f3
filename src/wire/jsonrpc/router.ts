// A table of methods and their handlers: finds, checks the params, calls, and reports each call once.

import { RpcError, toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { describeIssues } from '../../base/schema-issues.js';
import { checkNow } from './check-now.js';
import type { RawJson } from './encode.js';
import { invalidParams } from './invalid-params.js';
import { METHOD_NOT_FOUND, type JsonRpcParams } from './message.js';
import type { EventDef, MethodDef, ParamsOf, ResultOf } from './method.js';

/** Of a method nobody knows: enough to recognise it, not enough to make a long answer of a long question. */
export const MAX_ECHOED_CHARS = 256;

export type Handler<M extends MethodDef, Ctx> = (
  params: ParamsOf<M>,
  ctx: Ctx,
) => ResultOf<M> | RawJson | Promise<ResultOf<M> | RawJson>;

export type EventHandler<E extends EventDef, Ctx> = (params: ParamsOf<E>, ctx: Ctx) => unknown;

/** What there is to know about a call when it is over; exactly one of `error` and `result` tells how. */
export interface CallReport<Ctx> {
  readonly method: string;
  /** As they came, before any check. */
  readonly params: JsonRpcParams | undefined;
  readonly ctx: Ctx;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly durationMs: number;
}

export interface RouterOptions<Ctx> {
  /** Called once for every call, also one that failed or named no method, before its answer is sent. */
  readonly onCall?: (report: CallReport<Ctx>) => void;
  readonly log?: Log;
}

interface Route<Ctx> {
  readonly def: Pick<MethodDef, 'name' | 'params' | 'positional'>;
  readonly handler: (params: unknown, ctx: Ctx) => unknown;
  readonly read?: PlainReader | undefined;
}

/** Gives what the schema would give, without it, or undefined when it has to be asked. */
type PlainReader = (params: JsonRpcParams | undefined) => unknown;

interface Early<Ctx> {
  readonly read: PlainReader;
  readonly handler: Route<Ctx>['handler'];
}

export class Router<Ctx> {
  readonly #routes = new Map<string, Route<Ctx>>();
  readonly #early = new Map<string, Early<Ctx>>();
  readonly #families = new Map<string, () => Promise<(router: Router<Ctx>) => void>>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #options: RouterOptions<Ctx>;

  constructor(options: RouterOptions<Ctx> = {}) {
    this.#options = options;
  }

  get names(): readonly string[] {
    return [...this.#routes.keys()];
  }

  /** `read`, for a method that is called so often that its schema counts, is asked before that is. */
  method<M extends MethodDef>(
    def: M,
    handler: Handler<M, Ctx>,
    read?: (params: JsonRpcParams | undefined) => ParamsOf<M> | undefined,
  ): this {
    return this.#add(def, handler as Route<Ctx>['handler'], read);
  }

  event<E extends EventDef>(def: E, handler: EventHandler<E, Ctx>): this {
    return this.#add(def, handler as Route<Ctx>['handler']);
  }

  /**
   * Methods whose names begin with `prefix`, added by `load` when the first of them is called: a server that is started
   * once per connection should not load what this connection never asks for.
   */
  family(prefix: string, load: () => Promise<(router: Router<Ctx>) => void>): this {
    this.#families.set(prefix, load);
    return this;
  }

  /**
   * A method of a family that is answered before the family is loaded, when `read` knows without a schema that the
   * params are right: it gives what the schema would give, or undefined when that has to be asked.
   */
  early<M extends MethodDef>(
    name: M['name'],
    read: (params: JsonRpcParams | undefined) => ParamsOf<M> | undefined,
    handler: Handler<M, Ctx>,
  ): this {
    this.#early.set(name, { read, handler: handler as Route<Ctx>['handler'] });
    return this;
  }

  /** A whole table at once: a method without its handler does not compile. */
  methods<T extends Readonly<Record<string, MethodDef>>>(
    defs: T,
    handlers: { readonly [K in keyof T]: Handler<T[K], Ctx> },
  ): this {
    for (const key of Object.keys(defs) as (keyof T & string)[]) {
      const def = defs[key];
      if (def !== undefined) this.method(def, handlers[key]);
    }
    return this;
  }

  /**
   * The result, or a promise of it when the handler gives one; throws or rejects with what should be answered. Calls
   * run side by side: nothing here waits for the one before.
   */
  call(method: string, params: JsonRpcParams | undefined, ctx: Ctx): unknown {
    const { onCall } = this.#options;
    return onCall === undefined
      ? this.#run(method, params, ctx)
      : this.#reported(method, params, ctx, onCall);
  }

  #add(def: Route<Ctx>['def'], handler: Route<Ctx>['handler'], read?: PlainReader): this {
    if (this.#routes.has(def.name)) throw new TypeError(`${def.name} is routed twice`);
    this.#routes.set(def.name, { def, handler, read });
    return this;
  }

  #run(method: string, params: JsonRpcParams | undefined, ctx: Ctx): unknown {
    const route = this.#routes.get(method);
    const early = route === undefined ? this.#early.get(method) : undefined;
    const plain = early?.read(params);
    if (early !== undefined && plain !== undefined) return early.handler(plain, ctx);
    const late = route === undefined ? this.#loadFamily(method) : undefined;
    if (late !== undefined) return late.then(() => this.#run(method, params, ctx));
    if (route === undefined) {
      const data = { method: method.slice(0, MAX_ECHOED_CHARS) };
      throw new RpcError(METHOD_NOT_FOUND, 'Method not found', { data });
    }
    return route.handler(route.read?.(params) ?? checkParams(route.def, params), ctx);
  }

  /** Undefined when no family is left to be loaded that could have the method. */
  #loadFamily(method: string): Promise<void> | undefined {
    const prefix = method.slice(0, method.indexOf('.') + 1);
    const load = this.#families.get(prefix);
    if (load === undefined) return undefined;
    const loading = this.#loading.get(prefix) ?? this.#addFamily(prefix, load);
    this.#loading.set(prefix, loading);
    return loading;
  }

  async #addFamily(prefix: string, load: () => Promise<(router: Router<Ctx>) => void>): Promise<void> {
    (await load())(this);
    this.#families.delete(prefix);
  }

  #reported(
    method: string,
    params: JsonRpcParams | undefined,
    ctx: Ctx,
    onCall: (report: CallReport<Ctx>) => void,
  ): unknown {
    const start = performance.now();
    const report: Report = (end) => {
      try {
        onCall({ method, params, ctx, ...end, durationMs: performance.now() - start });
      } catch (thrown) {
        this.#options.log?.error('a call could not be reported', { method, error: toError(thrown).stack });
      }
    };
    let result: unknown;
    try {
      result = this.#run(method, params, ctx);
    } catch (thrown) {
      report({ error: thrown });
      throw thrown;
    }
    if (result instanceof Promise) return reportWhenSettled(result, report);
    report({ result });
    return result;
  }
}

type Report = (end: { result: unknown } | { error: unknown }) => void;

async function reportWhenSettled(work: Promise<unknown>, report: Report): Promise<unknown> {
  let result: unknown;
  try {
    result = await work;
  } catch (thrown) {
    report({ error: thrown });
    throw thrown;
  }
  report({ result });
  return result;
}

function checkParams(def: Route<unknown>['def'], params: JsonRpcParams | undefined): unknown {
  const named = nameParams(def, params);
  const checked = checkNow(def.params, named);
  if (checked.issues === undefined) return checked.value;
  throw invalidParams(describeIssues(checked.issues, named));
}

function nameParams(def: Route<unknown>['def'], params: JsonRpcParams | undefined): unknown {
  const { positional } = def;
  if (params === undefined) return positional === true ? [] : {};
  if (!Array.isArray(params) || positional === true) return params;
  if (positional === undefined) {
    throw invalidParams([{ path: '', message: 'expected an object: params go by name here' }]);
  }
  if (params.length > positional.length) {
    throw invalidParams([
      { path: '', message: `expected at most ${positional.length} values, got ${params.length}` },
    ]);
  }
  return Object.fromEntries(params.map((value, i) => [positional[i], value]));
}
