// Routes as data, and the way from a method and a path to one of them.

import type * as z from 'zod/mini';
import { LocalError } from '../../base/errors.js';
import type { RequestContext } from './context.js';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** `/agents/:id/:topic` → `'id' | 'topic'` */
export type ParamNames<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never;

export interface RouteOf<Params> {
  readonly method: HttpMethod;
  /** `/literal/:param`. A param stands for one segment that is not empty. */
  readonly path: string;
  readonly summary: string;
  /** What the JSON body must look like. Handlers give it to `readJson`; the documentation reads it from here. */
  readonly body?: z.ZodMiniType;
  /** Answers through `reply.ts` or `openEventStream`; what it throws is answered as an error. */
  handler(ctx: RequestContext<Params>): void | Promise<void>;
}

export type Route = RouteOf<Readonly<Record<string, string>>>;

/** A route whose handler knows its params by name and type. */
export function defineRoute<const Path extends string>(
  route: RouteOf<Readonly<Record<ParamNames<Path>, string>>> & { readonly path: Path },
): Route {
  return route;
}

export type Match =
  | { readonly kind: 'found'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'options'; readonly allow: readonly string[] }
  | { readonly kind: 'wrong_method'; readonly allow: readonly string[] }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'malformed'; readonly message: string };

interface Leaf {
  readonly route: Route;
  readonly names: readonly string[];
}

interface Node {
  readonly literals: Map<string, Node>;
  param: Node | undefined;
  readonly leaves: Map<string, Leaf>;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Paths are matched segment by segment after percent-decoding, exactly: `/a/` and `//a` are not `/a`. A literal wins over
 * a param. HEAD is answered by GET's handler and OPTIONS by the router, unless a route says otherwise; OPTIONS succeeds
 * on unknown paths too, because a browser's preflight must not fail where the request itself would get a plain 404.
 */
export class Router {
  readonly routes: readonly Route[];
  readonly #root: Node = newNode();
  /** Paths without params, for the common case of no search at all. */
  readonly #literal = new Map<string, Node>();

  constructor(routes: readonly Route[]) {
    this.routes = routes;
    for (const route of routes) this.#add(route);
  }

  match(method: string, path: string): Match {
    const known = this.#literal.get(path);
    const quick = known === undefined ? undefined : leafFor(known, method);
    if (quick !== undefined) return { kind: 'found', route: quick.route, params: NO_PARAMS };
    if (!path.startsWith('/'))
      return method === 'OPTIONS' ? { kind: 'options', allow: [] } : { kind: 'not_found' };
    const segments = decodeSegments(path);
    if (typeof segments === 'string') return { kind: 'malformed', message: segments };
    return this.#search(method, segments);
  }

  #search(method: string, segments: readonly string[]): Match {
    const allow = new Set<string>();
    for (const { node, values } of candidates(this.#root, segments, 0, [])) {
      const leaf = leafFor(node, method);
      if (leaf !== undefined) return { kind: 'found', route: leaf.route, params: zip(leaf.names, values) };
      for (const name of node.leaves.keys()) allow.add(name);
    }
    if (allow.has('GET')) allow.add('HEAD');
    if (allow.size > 0) allow.add('OPTIONS');
    const sorted = [...allow].sort();
    if (method === 'OPTIONS') return { kind: 'options', allow: sorted };
    return sorted.length > 0 ? { kind: 'wrong_method', allow: sorted } : { kind: 'not_found' };
  }

  #add(route: Route): void {
    if (!route.path.startsWith('/')) throw new RouteError(route, 'does not begin with /');
    let node = this.#root;
    const names: string[] = [];
    for (const segment of route.path.slice(1).split('/')) {
      if (segment.startsWith(':')) {
        names.push(segment.slice(1));
        node.param ??= newNode();
        node = node.param;
      } else {
        const next = node.literals.get(segment) ?? newNode();
        node.literals.set(segment, next);
        node = next;
      }
    }
    if (names.includes('') || new Set(names).size < names.length)
      throw new RouteError(route, 'has a nameless param or two of one name');
    if (node.leaves.has(route.method)) throw new RouteError(route, 'is already taken');
    node.leaves.set(route.method, { route, names });
    if (names.length === 0) this.#literal.set(route.path, node);
  }
}

class RouteError extends LocalError {
  override readonly name = 'RouteError';

  constructor(route: Route, reason: string) {
    super('bad_route', `route ${route.method} ${route.path} ${reason}`);
  }
}

function newNode(): Node {
  return { literals: new Map(), param: undefined, leaves: new Map() };
}

function leafFor(node: Node, method: string): Leaf | undefined {
  return node.leaves.get(method) ?? (method === 'HEAD' ? node.leaves.get('GET') : undefined);
}

/** Every place the path may mean, most literal first. Each node is reached by one way only, so this ends soon. */
function* candidates(
  node: Node,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Generator<{ node: Node; values: readonly string[] }> {
  const segment = segments[at];
  if (segment === undefined) {
    if (node.leaves.size > 0) yield { node, values };
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) yield* candidates(literal, segments, at + 1, values);
  if (node.param !== undefined && segment !== '')
    yield* candidates(node.param, segments, at + 1, [...values, segment]);
}

/**
 * The decoded segments, or what is wrong with them. Clients resolve `.` and `..` before they send, so one that arrives
 * is a mistake or an attempt to have it used as a path.
 */
function decodeSegments(path: string): string[] | string {
  let decoded: string[];
  try {
    decoded = path
      .slice(1)
      .split('/')
      .map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment));
  } catch {
    return 'the path holds malformed percent-encoding';
  }
  if (decoded.some((segment) => segment === '.' || segment === '..')) return 'the path holds a dot segment';
  if (decoded.some((segment) => segment.includes('\0'))) return 'the path holds NUL';
  return decoded;
}

function zip(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMS;
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']));
}
