// What rexd's clients are told when something goes wrong: the one place where local errors become REXD's.

import { RpcError } from '../base/errors.js';
import { ERROR_CODES, type ErrorName } from './protocol.js';

const INVALID_PARAMS = -32602;

export function rexdError(
  name: ErrorName,
  message: string,
  data: Readonly<Record<string, unknown>>,
  cause?: unknown,
): RpcError {
  return new RpcError(ERROR_CODES[name], message, { data, cause });
}

export function forbiddenPath(path: string, allowedRoots: readonly string[], cause?: unknown): RpcError {
  return rexdError(
    'forbidden_path',
    'Path is outside allowed roots',
    { path, allowed_roots: allowedRoots },
    cause,
  );
}

export function sessionNotFound(sessionId: string): RpcError {
  return new RpcError(INVALID_PARAMS, 'params.session_id: no such session; open one with session.open', {
    data: { session_id: sessionId },
  });
}
