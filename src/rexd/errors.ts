// What rexd's clients are told when something goes wrong: the one place where local errors become REXD's.

import { RpcError, toError } from '../base/errors.js';
import { RootsNotGrantedError } from '../guard/roots.js';
import { INVALID_PARAMS } from '../wire/jsonrpc/message.js';
import { ERROR_CODES, type ErrorName } from './protocol.js';

export function rexdError(
  name: ErrorName,
  message: string,
  data: Readonly<Record<string, unknown>>,
  cause?: unknown,
): RpcError {
  return new RpcError(ERROR_CODES[name], message, { data, cause });
}

function forbiddenPath(path: string, allowedRoots: readonly string[], cause?: unknown): RpcError {
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

/** What the layers below throw, as a client may know it. Anything unexpected stays as it is and is answered -32603. */
export function toRexdError(thrown: unknown): Error {
  if (thrown instanceof RootsNotGrantedError) {
    return forbiddenPath(thrown.requested[0] ?? '', thrown.allowedRoots, thrown);
  }
  return toError(thrown);
}
