// What a request wants to run: argv as it is, or a shell that reads a command line.

import { RpcError } from '../../base/errors.js';
import { INVALID_PARAMS } from '../../wire/jsonrpc/message.js';

export interface ProgramParams {
  readonly argv?: readonly string[] | undefined;
  readonly shell: boolean;
  readonly command?: string | undefined;
  readonly login: boolean;
}

const SHELL = 'sh';

export function programOf(params: ProgramParams): readonly string[] {
  if (params.shell) {
    if (params.command === undefined) throw refuse('command', 'is required when shell is true');
    return checked([SHELL, params.login ? '-lc' : '-c', params.command], 'command');
  }
  if (params.argv === undefined) {
    throw params.command === undefined
      ? refuse('argv', 'is required (array)')
      : refuse('command', 'needs shell: true');
  }
  if (params.argv[0] === '') throw refuse('argv[0]', 'must not be empty');
  return checked(params.argv, 'argv');
}

/** The kernel ends an argument at its first NUL, so what came after it would silently be lost. */
function checked(argv: readonly string[], field: string): readonly string[] {
  if (argv.some((word) => word.includes('\0'))) throw refuse(field, 'must not contain NUL');
  return argv;
}

function refuse(field: string, message: string): RpcError {
  return new RpcError(INVALID_PARAMS, `params.${field}: ${message}`, {
    data: { issues: [{ path: field, message }] },
  });
}
