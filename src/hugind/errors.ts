// What a request of the bridge may fail with: a word that programs know, and a sentence for people.

import { errnoOf, LocalError, toError } from '../base/errors.js';
import { TimeoutError } from '../base/deadline.js';
import { LaneFullError } from '../base/lane.js';
import { LockTimeoutError } from '../host/store/file-lock.js';

export const ERRORS = {
  invalid_json: 'the line is no JSON',
  invalid_request: 'the line is JSON, but no request; or it is too long, or nested too deeply',
  unknown_method: 'there is no such method',
  invalid_params: 'a parameter is missing, of the wrong type, or a name that cannot be one',
  not_found: 'what was named is not there',
  already_exists: 'what was to be made is there already',
  not_confirmed: 'something would be lost, and `confirm` was not true',
  permissions_not_approved: 'an agent wants to be allowed what nobody has allowed it; `data` has the list',
  permission_denied: 'the hub or the file system does not let us',
  busy: 'somebody else is at it, or too much waits already',
  cancelled: 'the request was called off',
  timeout: 'it took too long',
  upstream_error: 'the hub or a server behind us failed, or answered what cannot be right',
  unavailable: 'this machine cannot do it now: no room on the disk, or a part that is not there',
  internal_error: 'anything else; the log has more',
} as const;

export type ErrorCode = keyof typeof ERRORS;

export interface BridgeFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: unknown;
}

/** Its code and message are told to the client; its facts, if there are any, are `data`. */
export class HugindError extends LocalError {
  override readonly name = 'HugindError';
  declare readonly code: ErrorCode;

  constructor(
    code: ErrorCode,
    message: string,
    options: { data?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(code, message, {
      ...(options.data !== undefined && { facts: options.data }),
      cause: options.cause,
    });
  }
}

/** The one seam where a thrown value becomes an answer. */
export function toFailure(thrown: unknown): BridgeFailure {
  if (thrown instanceof HugindError) {
    const { code, message, facts } = thrown;
    return { code, message, ...(Object.keys(facts).length > 0 && { data: facts }) };
  }
  if (thrown instanceof TimeoutError) return { code: 'timeout', message: thrown.message };
  if (thrown instanceof LaneFullError || thrown instanceof LockTimeoutError)
    return { code: 'busy', message: thrown.message };
  const errno = errnoOf(thrown);
  if (errno !== undefined)
    return { code: BY_ERRNO[errno] ?? 'internal_error', message: sayErrno(thrown, errno) };
  if (thrown instanceof LocalError) return { code: 'internal_error', message: thrown.message };
  return { code: 'internal_error', message: 'Internal error' };
}

const BY_ERRNO: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'not_found',
  ENOTDIR: 'not_found',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EROFS: 'permission_denied',
  ENOSPC: 'unavailable',
  EDQUOT: 'unavailable',
  EMFILE: 'unavailable',
  ENFILE: 'unavailable',
};

function sayErrno(thrown: unknown, errno: string): string {
  const { path } = toError(thrown) as NodeJS.ErrnoException;
  return path === undefined ? `the system says ${errno}` : `${path}: the system says ${errno}`;
}
