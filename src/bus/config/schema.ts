// What can be written in a configuration of the bus; docs/bus-config.md is made from it.

import * as z from 'zod/mini';
import { LOG_LEVELS } from '../../base/log.js';
import { MAX_INSTANCES } from '../../host/supervisor/supervisor.js';

/** Pools of one bus at most: each is told apart by its name in every message that names one. */
export const MAX_POOLS = 1000;
/** A day, the longest of any wait that can be configured in seconds. */
export const MAX_WAIT_SEC = 24 * 60 * 60;
/** Of one line, one queue: whoever needs more needs a file. */
export const MAX_BUFFER_BYTES = 1024 * 1024 * 1024;
/** Entries of one table (requests that wait, sessions, clients). */
export const MAX_TABLE_ENTRIES = 10_000_000;

const MIB = 1024 * 1024;

const text = z.string().check(z.minLength(1));
const seconds = z.number().check(z.gte(0), z.lte(MAX_WAIT_SEC));
const milliseconds = z.int().check(z.gte(1), z.lte(MAX_WAIT_SEC * 1000));
const bytes = z.int().check(z.gte(1), z.lte(MAX_BUFFER_BYTES));
const entries = z.int().check(z.gte(1), z.lte(MAX_TABLE_ENTRIES));
/** `tools/*`: one star, at the end. */
const pattern = z.string().check(
  z.minLength(1),
  z.refine((value) => !value.slice(0, -1).includes('*'), 'a star may only stand at the end'),
);

const Session = z.strictObject({
  lift: z._default(z.boolean(), true),
  strip: z._default(z.boolean(), false),
});
const Ping = z.strictObject({
  method: z._default(text, 'ping'),
  interval_ms: z._default(milliseconds, 30_000),
  timeout_ms: z._default(milliseconds, 10_000),
});
const Ready = z.strictObject({
  method: z.optional(text),
  params: z.optional(z.unknown()),
  stderr: z.optional(text),
  timeout_ms: z._default(milliseconds, 30_000),
});
const Pool = z.strictObject({
  id: text,
  command: text,
  args: z._default(z.array(z.string()), []),
  instances: z._default(z.int().check(z.gte(1), z.lte(MAX_INSTANCES)), 1),
  name: z.optional(text),
  env: z._default(z.record(z.string(), z.nullable(z.string())), {}),
  cwd: z.optional(text),
  methods: z._default(z.array(pattern), []),
  keys: z._default(z.array(text), []),
  session: z.prefault(Session, {}),
  ping: z.optional(Ping),
  ready: z.optional(Ready),
});
const Limits = z.strictObject({
  max_input_buffer: z._default(bytes, MIB),
  max_output_queue: z._default(bytes, 4 * MIB),
  max_restarts: z._default(z.int().check(z.gte(0), z.lte(1_000_000)), 5),
  restart_window_sec: z._default(seconds, 60),
  drain_timeout_sec: z._default(seconds, 30),
  backpressure_timeout_sec: z._default(seconds, 60),
  max_worker_queue: z._default(bytes, 4 * MIB),
  max_pending: z._default(entries, 1_000_000),
  max_sessions: z._default(entries, 1_000_000),
  max_clients: z._default(entries, 10_000),
  max_waiting: z._default(bytes, 4 * MIB),
  wait_timeout_ms: z._default(milliseconds, 30_000),
  max_rubbish_lines: z._default(entries, 100),
});
const Transport = z.strictObject({
  mode: z.optional(z.enum(['stdio', 'unix', 'tcp'])),
  framing: z._default(z.enum(['ndjson', 'length']), 'ndjson'),
  protocol: z._default(z.enum(['json']), 'json'),
  options: z.prefault(
    z.strictObject({
      path: z.optional(text),
      listen: z.optional(text),
      shm_name: z.optional(z.string()),
      shm_size: z.optional(z.number()),
      mqueue_name: z.optional(z.string()),
      mqueue_depth: z.optional(z.number()),
      mqueue_msgsize: z.optional(z.number()),
    }),
    {},
  ),
});
const Security = z.strictObject({
  tokenFile: z.optional(text),
  tls: z.optional(z.strictObject({ cert: text, key: text, ca: z.optional(text) })),
});
const LogSettings = z.strictObject({
  level: z._default(z.enum(LOG_LEVELS), 'info'),
  format: z._default(z.enum(['text', 'json']), 'text'),
});

export const BusConfigSchema = z.strictObject({
  pools: z.array(Pool).check(z.minLength(1), z.maxLength(MAX_POOLS)),
  limits: z.prefault(Limits, {}),
  transport: z.prefault(Transport, {}),
  defaultPool: z.optional(text),
  routes: z._default(z.array(z.strictObject({ method: pattern, pool: text })), []),
  idCollision: z._default(z.enum(['hold', 'rewrite']), 'hold'),
  sessionOwnership: z._default(z.enum(['strict', 'shared']), 'strict'),
  notifyLoss: z._default(z.boolean(), false),
  sessionTtlSec: z.optional(seconds),
  lenient: z._default(z.boolean(), false),
  security: z.prefault(Security, {}),
  log: z.prefault(LogSettings, {}),
});

/** Checked, with every default in its place. */
export type BusConfig = z.output<typeof BusConfigSchema>;
/** As it is written. */
export type BusConfigInput = z.input<typeof BusConfigSchema>;
export type PoolConfig = BusConfig['pools'][number];

/** The keys that stand at `path` (`pools[0]`, `limits`), for "did you mean". */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = BusConfigSchema;
  for (const key of path) at = inside(at, key);
  return Object.keys(shapeOf(at) ?? {});
}

function inside(schema: unknown, key: PropertyKey): unknown {
  if (typeof key === 'number') return unwrap(schema)?.element;
  return shapeOf(schema)?.[String(key)];
}

interface Definition {
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly shape?: Readonly<Record<string, unknown>>;
}

function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  return unwrap(schema)?.shape;
}

/** What is behind a default or an optional. */
function unwrap(schema: unknown): Definition | undefined {
  const { _zod: inner } = (schema ?? {}) as { _zod?: { def: Definition } };
  if (inner === undefined) return undefined;
  return inner.def.innerType === undefined ? inner.def : unwrap(inner.def.innerType);
}
