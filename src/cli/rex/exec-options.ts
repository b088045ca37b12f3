// The options of `rex exec`, and the request that they and the words of the command line come to.

import { readFileSync } from 'node:fs';
import { toError } from '../../base/errors.js';
import type { RexParams } from '../../client/rex/rex-methods.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import { UsageError } from '../flags.js';
import type { RexContext } from './context.js';

export interface ExecOptions {
  readonly shell?: string;
  readonly login?: boolean;
  readonly env: readonly string[];
  readonly envFrom: readonly string[];
  readonly interactive?: boolean;
  readonly input: boolean;
  readonly detach?: boolean;
  readonly events?: boolean;
  readonly requestId?: string;
  readonly maxOutput?: number;
}

export interface ExecWords {
  readonly target: string | undefined;
  /** Empty with --shell. */
  readonly argv: readonly string[];
}

/** `TARGET -- COMMAND…`, `TARGET COMMAND…`, `-- COMMAND…`. */
export function readWords(
  { rest }: Pick<RexContext, 'rest'>,
  words: readonly string[],
  { shell, requestId, detach }: Pick<ExecOptions, 'shell' | 'requestId' | 'detach'>,
): ExecWords {
  const [target, ...more] = words;
  const argv = rest ?? more;
  if (rest !== undefined && more.length > 0)
    throw new UsageError(`what is "${more.join(' ')}"? The command goes after --`);
  if (shell === undefined && argv.length === 0)
    throw new UsageError('which command? Write: rex exec TARGET -- COMMAND [ARGS...]');
  if (shell !== undefined && argv.length > 0)
    throw new UsageError(`either --shell or a command, not both ("${argv.join(' ')}" is one)`);
  if (requestId !== undefined && detach !== true)
    throw new UsageError('--request-id needs --detach: without it, each call has a session of its own');
  return { target, argv };
}

/** All but its input. Without a time of its own it has what the target gives at most. */
export function execRequest(
  choice: TargetChoice,
  given: { readonly argv: readonly string[]; readonly options: ExecOptions; readonly context: RexContext },
  limits: { readonly hard_timeout_ms?: number; readonly max_output_bytes?: number },
): RexParams<'exec.start'> {
  const { argv, options, context } = given;
  const cwd = context.folderOn(choice);
  const env = readEnvironment(options, process.env);
  const timeout = context.takeTimeout() ?? (options.detach === true ? undefined : limits.hard_timeout_ms);
  const maxOutput = options.maxOutput ?? limits.max_output_bytes;
  const login = options.login ?? choice.target?.loginShell;
  return {
    ...(options.shell === undefined ? { argv: [...argv] } : { shell: true, command: options.shell }),
    ...(login === true && options.shell !== undefined && { login }),
    ...(cwd !== undefined && { cwd }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(timeout !== undefined && { timeout_ms: timeout }),
    ...(maxOutput !== undefined && { max_output_bytes: maxOutput }),
    ...(options.detach === true && { detach: true }),
    ...(options.requestId !== undefined && { request_id: options.requestId }),
  };
}

/** Files first, then what the command line says; a bare name takes its value from our own environment. */
export function readEnvironment(
  { env, envFrom }: Pick<ExecOptions, 'env' | 'envFrom'>,
  own: NodeJS.ProcessEnv,
): Record<string, string> {
  const lines = [...envFrom.flatMap(readLines), ...env];
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      const name = at === -1 ? line : line.slice(0, at);
      const value = at === -1 ? own[name] : line.slice(at + 1);
      if (name === '') throw new UsageError(`--env: "${line}" has no name; write NAME=VALUE`);
      if (value === undefined)
        throw new UsageError(`--env ${name}: there is no such variable here; write ${name}=VALUE`);
      return [name, value];
    }),
  );
}

function readLines(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new UsageError(`--env-from: ${toError(thrown).message}`);
  }
  return text
    .split(/\r?\n/)
    .map((line) => line.trimStart())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
