// What the bridge knows of a method beside its schemas: what it tells while it runs, and whom it must wait for.

import * as z from 'zod/mini';
import type { MethodDef } from '../../wire/jsonrpc/method.js';
import type { ErrorCode } from '../errors.js';

type Fields = z.core.$ZodLooseShape;

export interface BridgeMethod<
  Name extends string = string,
  P extends z.ZodMiniObject = z.ZodMiniObject,
  R extends z.ZodMiniObject = z.ZodMiniObject,
> extends MethodDef<Name, P, R> {
  /** Besides invalid_params, cancelled and internal_error, which every method may answer. */
  readonly errors: readonly ErrorCode[];
  readonly events: readonly EventName[];
  /** For whoever decides what needs a person's consent. */
  readonly effect: 'reads' | 'adds' | 'removes';
}

export type EventName = 'status' | 'progress' | 'log' | 'agent_event';

export function defineBridgeMethod<const Name extends string, P extends Fields, R extends Fields>(def: {
  name: Name;
  params: P;
  result: R;
  summary: string;
  effect: BridgeMethod['effect'];
  errors?: readonly ErrorCode[];
  events?: readonly EventName[];
}) {
  const { name, summary, effect, errors = [], events = [] } = def;
  return Object.freeze({
    name,
    params: z.object(def.params),
    result: z.object(def.result),
    errors,
    events,
    effect,
    summary,
  }) satisfies BridgeMethod;
}
