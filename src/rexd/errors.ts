// What rexd's clients are told when something goes wrong.

import { RpcError } from '../base/errors.js';
import type { ForbiddenReason } from '../host/files/errors.js';
import { INVALID_PARAMS } from '../wire/jsonrpc/message.js';
import { ERROR_CODES, type ErrorName } from './protocol/errors.js';

export function rexdError(
  name: ErrorName,
  message: string,
  data: Readonly<Record<string, unknown>>,
  cause?: unknown,
): RpcError {
  return new RpcError(ERROR_CODES[name], message, { data, cause });
}

/** Why a path that lies in a root is refused all the same, by the reason in `data`. */
const FORBIDDEN_TEXT: Readonly<Record<Exclude<ForbiddenReason, 'outside'>, string>> = {
  root: 'A root itself cannot be changed',
  withheld: 'What the server keeps for itself is, or would be, below it',
  hard_link: 'Files with several names (hard links) are refused',
};

export function forbiddenPath(
  path: string,
  allowedRoots: readonly string[],
  cause?: unknown,
  reason: ForbiddenReason = 'outside',
): RpcError {
  const data = { path, allowed_roots: allowedRoots };
  if (reason !== 'outside')
    return rexdError('forbidden_path', FORBIDDEN_TEXT[reason], { ...data, reason }, cause);
  const message =
    allowedRoots.length === 0
      ? 'No path is allowed: the server has no roots'
      : 'Path is outside allowed roots';
  return rexdError('forbidden_path', message, data, cause);
}

export function sessionNotFound(sessionId: string): RpcError {
  return new RpcError(INVALID_PARAMS, 'params.session_id: no such session; open one with session.open', {
    data: { session_id: sessionId },
  });
}

/** Wrong in a way the caller can mend: `field` is what to look at. */
export function invalidParam(
  field: string,
  message: string,
  data: Readonly<Record<string, unknown>> = {},
): RpcError {
  return new RpcError(INVALID_PARAMS, `params.${field}: ${message}`, {
    data: { ...data, issues: [{ path: field, message }] },
  });
}
