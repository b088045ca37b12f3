// One definition per method and event: router, client types, MCP tools, docs and conformance all read these values.

import type * as z from 'zod/mini';

type Schema = z.core.$ZodType;

export interface MethodDef<
  Name extends string = string,
  P extends Schema = Schema,
  R extends Schema = Schema,
> {
  readonly name: Name;
  readonly params: P;
  readonly result: R;
  /** Names of the errors it may answer besides the five of JSON-RPC itself. */
  readonly errors: readonly string[];
  readonly summary: string;
  /**
   * Whether params may come by position: the names they go by, in order, or `true` when `params` is itself the schema
   * of an array. Absent: by name only.
   */
  readonly positional?: readonly string[] | true;
}

export interface EventDef<Name extends string = string, P extends Schema = Schema> {
  readonly name: Name;
  readonly params: P;
  readonly summary: string;
}

/** What a handler is given: checked, defaults applied. */
export type ParamsOf<D extends { readonly params: Schema }> = z.core.output<D['params']>;
/** What a caller writes: defaults may be left out. */
export type RequestOf<D extends { readonly params: Schema }> = z.core.input<D['params']>;
export type ResultOf<D extends { readonly result: Schema }> = z.core.output<D['result']>;

export function defineMethod<const Name extends string, P extends Schema, R extends Schema>(
  def: MethodDef<Name, P, R>,
): MethodDef<Name, P, R> {
  return Object.freeze(def);
}

export function defineEvent<const Name extends string, P extends Schema>(
  def: EventDef<Name, P>,
): EventDef<Name, P> {
  return Object.freeze(def);
}
