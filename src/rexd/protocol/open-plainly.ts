// Reads the params of session.open where they are plainly right, without the schema, which takes longer to build than all
// else that the first answer needs. Whatever is not plain is for the schema, which also says what is wrong with it.

import type { JsonRpcParams } from '../../wire/jsonrpc/message.js';
import type { ParamsOf } from '../../wire/jsonrpc/method.js';
import { REXD_LIMITS } from '../limits.js';
import { MAX_ALGORITHMS, MAX_CLIENT_CHARS, MAX_PATH_CHARS, MAX_REQUESTED } from './open-bounds.js';
import type { SessionOpen } from './session-open.js';

type OpenParams = ParamsOf<typeof SessionOpen>;
type Reader = (value: unknown) => unknown;

/** Just what the schema would give, or undefined when it has to be asked. */
export function openPlainly(params: JsonRpcParams | undefined): OpenParams | undefined {
  return readRecord(params ?? {}, READERS) as OpenParams | undefined;
}

const READERS: Readonly<Record<keyof OpenParams, Reader>> = {
  client_name: (value) => (value === undefined ? 'unknown' : readClient(value)),
  client_version: readClient,
  workspace_roots: (value) => readStrings(value, MAX_REQUESTED, isPath),
  requested_capabilities: (value) => readStrings(value, MAX_REQUESTED),
  limits: (value) => readRecord(value, LIMIT_READERS),
  resumable: readBoolean,
  resume_window_ms: readCount,
  compression: (value) => readRecord(value, COMPRESSION_READERS),
};
const LIMIT_READERS: Record<string, Reader> = {};
for (const name of Object.keys(REXD_LIMITS)) LIMIT_READERS[name] = readCount;
const COMPRESSION_READERS: Readonly<Record<string, Reader>> = {
  algorithms: (value) => readStrings(value, MAX_ALGORITHMS),
  adaptive: (value) => (value === undefined ? true : readBoolean(value)),
};
/** The only member that has to be there, in the only record that has one. */
const REQUIRED = new Set(['algorithms']);

/** Members that nobody reads are left out, as the schema leaves them out. */
function readRecord(value: unknown, readers: Readonly<Record<string, Reader>>): object | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(readers)) {
    const read = readers[name]?.(given[name]);
    if (read !== undefined) result[name] = read;
    else if (Object.hasOwn(given, name) || REQUIRED.has(name)) return undefined;
  }
  return result;
}

function readClient(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_CLIENT_CHARS ? value : undefined;
}

function readBoolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function readCount(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 1 ? (value as number) : undefined;
}

function readStrings(
  value: unknown,
  max: number,
  accepts: (text: string) => boolean = () => true,
): string[] | undefined {
  if (!Array.isArray(value) || value.length > max) return undefined;
  return value.every((each) => typeof each === 'string' && accepts(each)) ? (value as string[]) : undefined;
}

function isPath(text: string): boolean {
  return text.length >= 1 && text.length <= MAX_PATH_CHARS;
}
