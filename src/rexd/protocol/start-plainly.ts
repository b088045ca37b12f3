// Reads the params of exec.start where they are plainly right, without the schema: of all that a short command costs us, that
// is the largest part which need not be. Whatever is not plain is for the schema, which also says what is wrong with it.

import type { JsonRpcParams } from '../../wire/jsonrpc/message.js';
import type { ParamsOf } from '../../wire/jsonrpc/method.js';
import type { ExecStart } from './exec.js';
import { MAX_ARGV_WORDS, MAX_ID_CHARS } from './fields.js';
import { MAX_PATH_CHARS } from './open-bounds.js';

type StartParams = ParamsOf<typeof ExecStart>;

/** What it means to leave them out is known; what they mean is for the schema to read. */
const UNUSUAL = [
  'shell',
  'command',
  'login',
  'stdin_encoding',
  'stdin_open',
  'detach',
  'request_id',
] as const;

/** Just what the schema would give, or undefined when it has to be asked. */
export function startPlainly(params: JsonRpcParams | undefined): StartParams | undefined {
  if (params === undefined || Array.isArray(params)) return undefined;
  const given = params as Readonly<Record<string, unknown>>;
  for (const name of UNUSUAL) if (name in given) return undefined;
  const { session_id, argv, cwd, env, stdin, timeout_ms, max_output_bytes } = given;
  if (!isText(session_id, MAX_ID_CHARS) || !isArgv(argv)) return undefined;
  if (cwd !== undefined && !isText(cwd, MAX_PATH_CHARS)) return undefined;
  if (env !== undefined && !isEnvironment(env)) return undefined;
  if (stdin !== undefined && typeof stdin !== 'string') return undefined;
  if (!isAmount(timeout_ms) || !isAmount(max_output_bytes)) return undefined;
  return {
    session_id,
    argv,
    shell: false,
    login: false,
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env: { ...env } }),
    ...(stdin !== undefined && { stdin }),
    stdin_encoding: 'utf8',
    stdin_open: false,
    ...(timeout_ms !== undefined && { timeout_ms }),
    ...(max_output_bytes !== undefined && { max_output_bytes }),
    detach: false,
  };
}

function isText(value: unknown, maxChars: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= maxChars;
}

function isArgv(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= MAX_ARGV_WORDS &&
    value.every((word) => typeof word === 'string')
  );
}

/** One that names a part of every object is left to the schema, too. */
function isEnvironment(value: unknown): value is Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const variables = value as Readonly<Record<string, unknown>>;
  return Object.keys(variables).every((name) => name !== '__proto__' && typeof variables[name] === 'string');
}

function isAmount(value: unknown): value is number | undefined {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}
