// Whether a value is a configuration: its keys, its types, and what no schema can say.

import * as z from 'zod/mini';
import { nearest } from '../../base/nearest.js';
import { describeIssues, sayIssue } from '../../base/schema-issues.js';
import { BusConfigError } from './config-error.js';
import { type BusConfig, BusConfigSchema, knownKeys } from './schema.js';

/** Throws a BusConfigError that names every key which is wrong. `where` is what the value was read from. */
export function checkConfig(value: unknown, where: string): BusConfig {
  const unsupported = findUnsupported(value);
  if (unsupported !== undefined) throw new BusConfigError(where, unsupported);
  const checked = z.safeParse(BusConfigSchema, value);
  if (!checked.success) {
    const issues = describeIssues(checked.error.issues, value, knownKeys);
    throw new BusConfigError(where, issues.map((issue) => sayIssue(issue, '')).join('; '));
  }
  const wrong = [...findContradictions(checked.data)];
  if (wrong.length > 0) throw new BusConfigError(where, wrong.join('; '));
  return checked.data;
}

/** What other implementations offer and this one does not: said with what to use instead. */
const UNSUPPORTED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mode: {
    shm: 'shared memory is not supported; use "unix", which any program can connect to',
    mqueue: 'message queues are not supported; use "unix", which any program can connect to',
  },
  framing: {
    raw: '"raw" frames belong to message queues, which are not supported; use "ndjson" or "length"',
    capnp: 'Cap\'n Proto frames are not supported; use "ndjson" or "length"',
  },
  protocol: {
    binary: 'the binary protocol is not supported; use "json", with "framing": "length" for framed bytes',
  },
};

function findUnsupported(value: unknown): string | undefined {
  const transport = (value as { transport?: unknown } | null | undefined)?.transport;
  if (typeof transport !== 'object' || transport === null) return undefined;
  for (const [key, sentences] of Object.entries(UNSUPPORTED)) {
    const asked: unknown = Reflect.get(transport, key);
    const sentence =
      typeof asked === 'string' && Object.hasOwn(sentences, asked) ? sentences[asked] : undefined;
    if (sentence !== undefined) return `transport.${key}: ${sentence}`;
  }
  return undefined;
}

function* findContradictions(config: BusConfig): Generator<string> {
  const ids = config.pools.map(({ id }) => id);
  for (const [at, id] of ids.entries()) {
    const first = ids.indexOf(id);
    if (first !== at)
      yield `pools[${at}].id: ${JSON.stringify(id)} is the id of pools[${first}] too; every pool needs its own`;
  }
  const named = [
    ...(config.defaultPool === undefined ? [] : [['defaultPool', config.defaultPool] as const]),
    ...config.routes.map(({ pool }, at) => [`routes[${at}].pool`, pool] as const),
  ];
  for (const [key, id] of named) if (!ids.includes(id)) yield `${key}: ${unknownPool(id, ids)}`;
  for (const [at, { env, command, args, ready, ping }] of config.pools.entries()) {
    const odd = Object.keys(env).find((name) => name === '' || /[=\0]/.test(name));
    if (odd !== undefined) yield `pools[${at}].env: ${JSON.stringify(odd)} cannot be the name of a variable`;
    if ([command, ...args, ...Object.values(env)].some((word) => word?.includes('\0') === true))
      yield `pools[${at}]: a zero byte cannot be passed to a program`;
    if (ready !== undefined && (ready.method === undefined) === (ready.stderr === undefined))
      yield `pools[${at}].ready: give either "method" (a request that it answers) or "stderr" (text that it prints)`;
    if (ping !== undefined && ping.timeout_ms > ping.interval_ms)
      yield `pools[${at}].ping.timeout_ms: must not be longer than interval_ms (${ping.interval_ms})`;
  }
}

function unknownPool(id: string, known: readonly string[]): string {
  const close = nearest(id, known);
  return `there is no pool ${JSON.stringify(id)}${close === undefined ? '' : `; did you mean ${JSON.stringify(close)}?`}`;
}
