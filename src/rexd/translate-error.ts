// The one place where errors of the layers below become REXD's. Apart from errors.ts because it knows them all by
// their classes, and a session is opened without any of them.

import { TimeoutError } from '../base/deadline.js';
import { RpcError, toError } from '../base/errors.js';
import { LimitError } from '../guard/limits.js';
import type { Roots } from '../guard/roots.js';
import { ConflictError, FileSystemError, ForbiddenPathError, TooLargeError } from '../host/files/errors.js';
import { FilesError } from '../host/files/path-errors.js';
import { InputClosedError, InputFullError } from '../host/process/input-pipe.js';
import { LaunchError } from '../host/process/launch-error.js';
import { INVALID_PARAMS } from '../wire/jsonrpc/message.js';
import { forbiddenPath, rexdError } from './errors.js';

/** What the layers below throw, as a client may know it. Anything unexpected stays as it is and is answered -32603. */
export function toRexdError(thrown: unknown, roots: Roots): Error {
  if (thrown instanceof ForbiddenPathError)
    return forbiddenPath(thrown.path, roots.shown, thrown, thrown.reason);
  if (thrown instanceof ConflictError) {
    const data = { path: thrown.path, current: currentVersion(thrown.current) };
    return rexdError('concurrency_conflict', 'The file has changed', data, thrown);
  }
  if (thrown instanceof TooLargeError) {
    const data = { path: thrown.path, size: thrown.size, limit: thrown.limit };
    return rexdError('resource_limit', thrown.message, data, thrown);
  }
  if (thrown instanceof FileSystemError && thrown.isShortage) {
    const data = { path: thrown.path, errno: thrown.errno };
    return rexdError('resource_limit', thrown.message, data, thrown);
  }
  if (thrown instanceof FilesError)
    return refused(thrown.message, { reason: thrown.code, path: thrown.path }, thrown);
  if (thrown instanceof LaunchError) return launchFailed(thrown);
  if (thrown instanceof TimeoutError)
    return rexdError('timeout', thrown.message, { timeout_ms: thrown.facts['ms'] }, thrown);
  if (thrown instanceof InputClosedError) return refused(thrown.message, { reason: thrown.code }, thrown);
  if (thrown instanceof InputFullError)
    return rexdError('resource_limit', thrown.message, thrown.facts, thrown);
  if (thrown instanceof LimitError) return refused(thrown.message, thrown.facts, thrown);
  return toError(thrown);
}

function currentVersion(current: ConflictError['current']): Readonly<Record<string, unknown>> | null {
  if (current === undefined) return null;
  const { mtimeMs: mtime, size, sha256 } = current;
  return { mtime, size, ...(sha256 !== undefined && { sha256 }) };
}

function launchFailed(error: LaunchError): RpcError {
  const data = { reason: error.code, ...error.facts };
  if (error.code === 'out_of_resources') return rexdError('resource_limit', error.message, data, error);
  return refused(error.message, data, error);
}

function refused(message: string, data: Readonly<Record<string, unknown>>, cause: unknown): RpcError {
  return new RpcError(INVALID_PARAMS, message, { data, cause });
}
