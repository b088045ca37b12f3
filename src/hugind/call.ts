// One request, whatever carried it: its method is found, its params are checked, its turn is waited for, its answer is given.

import * as z from 'zod/mini';
import { nearest } from '../base/nearest.js';
import { describeIssues, sayIssue } from '../base/schema-issues.js';
import type { ParamsOf, ResultOf } from '../wire/jsonrpc/method.js';
import { HugindError } from './errors.js';
import type { Home } from './home.js';
import { METHODS, type MethodName } from './protocol.js';
import type { EventName } from './protocol/define.js';
import type { Claim, Turns } from './turns.js';

/** What all requests share. */
export interface Services {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly turns: Turns;
}

export interface CallContext extends Services {
  /** Aborts when the request is called off, or the client goes. */
  readonly signal: AbortSignal;
  /** Tells the client something on the way. */
  readonly emit: Emit;
}

export type Emit = (event: EventName, data: Readonly<Record<string, unknown>>) => void;
export type Params<Name extends MethodName> = ParamsOf<(typeof METHODS)[Name]>;
export type Result<Name extends MethodName> = ResultOf<(typeof METHODS)[Name]>;

export interface Handler<Name extends MethodName> {
  readonly run: (params: Params<Name>, ctx: CallContext) => Promise<Result<Name>>;
  /** What others must leave alone meanwhile. */
  readonly claims?: (params: Params<Name>) => readonly Claim[];
}

export type Handlers = { readonly [Name in MethodName]: Handler<Name> };

/** Rejects with a HugindError for what the client did wrong. */
export async function callMethod(
  handlers: Handlers,
  name: string,
  given: unknown,
  ctx: CallContext,
): Promise<Readonly<Record<string, unknown>>> {
  if (!isMethod(name)) throw unknownMethod(name);
  const params = readParams(METHODS[name].params, given);
  // One row at a time the types agree; over all of them TypeScript cannot see it.
  const { run, claims } = handlers[name] as unknown as Handler<'model.list'>;
  return await ctx.turns.run(claims?.(params as never) ?? [], ctx.signal, () => run(params as never, ctx));
}

export function isMethod(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}

export function unknownMethod(name: string): HugindError {
  const close = nearest(name, Object.keys(METHODS));
  const shown = JSON.stringify(name.slice(0, 64));
  return new HugindError(
    'unknown_method',
    `Unknown method ${shown}${close === undefined ? '' : `; did you mean ${close}?`}`,
  );
}

/** Absent params are none. What a method does not know is passed over. */
export function readParams<Schema extends z.ZodMiniObject>(schema: Schema, given: unknown): z.output<Schema> {
  const value = given ?? {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new HugindError('invalid_params', 'params must be an object');
  const checked = z.safeParse(schema, value);
  if (checked.success) return checked.data;
  const issues = describeIssues(checked.error.issues, value);
  throw new HugindError('invalid_params', issues.map((issue) => sayIssue(issue, '')).join('; '), {
    data: { issues },
  });
}
