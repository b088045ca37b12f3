// What rexd's clients are told when something goes wrong: the one place where local errors become REXD's.

import { TimeoutError } from '../base/deadline.js';
import { RpcError, toError } from '../base/errors.js';
import { LimitError } from '../guard/limits.js';
import { type Roots, RootsNotGrantedError } from '../guard/roots.js';
import { ConflictError, FilesError, ForbiddenPathError, TooLargeError } from '../host/files/errors.js';
import { InputClosedError } from '../host/process/input-pipe.js';
import { LaunchError } from '../host/process/launch-error.js';
import { InputFullError } from '../host/pty/terminal-input.js';
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

export function forbiddenPath(path: string, allowedRoots: readonly string[], cause?: unknown): RpcError {
  const message =
    allowedRoots.length === 0
      ? 'No path is allowed: the server has no roots'
      : 'Path is outside allowed roots';
  return rexdError('forbidden_path', message, { path, allowed_roots: allowedRoots }, cause);
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

/** What the layers below throw, as a client may know it. Anything unexpected stays as it is and is answered -32603. */
export function toRexdError(thrown: unknown, roots: Roots): Error {
  if (thrown instanceof RootsNotGrantedError) {
    return forbiddenPath(thrown.requested[0] ?? '', thrown.allowedRoots, thrown);
  }
  if (thrown instanceof ForbiddenPathError) return forbiddenPath(thrown.path, roots.shown, thrown);
  if (thrown instanceof ConflictError) {
    const current =
      thrown.current === undefined ? null : { mtime: thrown.current.mtimeMs, size: thrown.current.size };
    return rexdError('concurrency_conflict', 'The file has changed', { path: thrown.path, current }, thrown);
  }
  if (thrown instanceof TooLargeError) {
    const data = { path: thrown.path, size: thrown.size, limit: thrown.limit };
    return rexdError('resource_limit', thrown.message, data, thrown);
  }
  if (thrown instanceof FilesError)
    return refused(thrown.message, { reason: thrown.code, path: thrown.path }, thrown);
  if (thrown instanceof LaunchError) return launchFailed(thrown);
  if (thrown instanceof TimeoutError) return rexdError('timeout', thrown.message, thrown.facts, thrown);
  if (thrown instanceof InputClosedError) return refused(thrown.message, { reason: thrown.code }, thrown);
  if (thrown instanceof InputFullError)
    return rexdError('resource_limit', thrown.message, thrown.facts, thrown);
  if (thrown instanceof LimitError) return refused(thrown.message, thrown.facts, thrown);
  return toError(thrown);
}

function launchFailed(error: LaunchError): RpcError {
  const data = { reason: error.code, ...error.facts };
  if (error.code === 'out_of_resources') return rexdError('resource_limit', error.message, data, error);
  return refused(error.message, data, error);
}

function refused(message: string, data: Readonly<Record<string, unknown>>, cause: unknown): RpcError {
  return new RpcError(INVALID_PARAMS, message, { data, cause });
}
