// What can go wrong with a file inside the roots, each as a type a caller can branch on.

import { errnoOf, LocalError } from '../../base/errors.js';
import { FilesError, InvalidPathError } from './path-errors.js';

export type EntryType = 'file' | 'dir' | 'symlink' | 'other';

/**
 * `outside`: it leads out of the roots, whether or not anything is there. `root`: a root itself was to be changed.
 * `withheld`: something is below that is not to be touched. `hard_link`: the file has other names, and the caller asked for such files to be refused.
 */
export type ForbiddenReason = 'outside' | 'root' | 'withheld' | 'hard_link';

const FORBIDDEN_TEXT: Readonly<Record<ForbiddenReason, string>> = {
  outside: 'path is outside the allowed roots',
  root: 'a root itself cannot be changed',
  withheld: 'a folder of the server itself is, or would be, below it',
  hard_link: 'files with several hard links are refused',
};

export class ForbiddenPathError extends FilesError {
  override readonly name = 'ForbiddenPathError';
  readonly allowedRoots: readonly string[];
  readonly reason: ForbiddenReason;

  constructor(path: string, allowedRoots: readonly string[], reason: ForbiddenReason = 'outside') {
    super('forbidden_path', path, FORBIDDEN_TEXT[reason], { facts: { allowedRoots, reason } });
    this.allowedRoots = allowedRoots;
    this.reason = reason;
  }
}

export class NotFoundError extends FilesError {
  override readonly name = 'NotFoundError';

  constructor(path: string) {
    super('not_found', path, 'no such file or directory');
  }
}

export class NotAFileError extends FilesError {
  override readonly name = 'NotAFileError';
  readonly type: EntryType;

  constructor(path: string, type: EntryType) {
    super('not_a_file', path, type === 'dir' ? 'is a directory' : 'is not a regular file', {
      facts: { type },
    });
    this.type = type;
  }
}

export class NotADirectoryError extends FilesError {
  override readonly name = 'NotADirectoryError';

  constructor(path: string) {
    super('not_a_directory', path, 'is not a directory');
  }
}

export class NotEmptyError extends FilesError {
  override readonly name = 'NotEmptyError';

  constructor(path: string) {
    super('not_empty', path, 'directory is not empty');
  }
}

export class AlreadyExistsError extends FilesError {
  override readonly name = 'AlreadyExistsError';

  constructor(path: string) {
    super('already_exists', path, 'already exists');
  }
}

export interface CurrentState {
  readonly mtimeMs: number;
  readonly size: number;
  /** Of the content, where it could be read. */
  readonly sha256?: string;
}

/** The file is not the one the caller had seen; `current` is what is there now, undefined if nothing is. */
export class ConflictError extends FilesError {
  override readonly name = 'ConflictError';
  readonly current: CurrentState | undefined;

  constructor(path: string, current: CurrentState | undefined) {
    super('conflict', path, 'the file has changed', { facts: { current } });
    this.current = current;
  }
}

/** `limit` says of what in the message: bytes, levels, links. */
export class TooLargeError extends FilesError {
  override readonly name = 'TooLargeError';
  readonly size: number;
  readonly limit: number;

  constructor(path: string, size: number, limit: number, unit = 'bytes') {
    super('too_large', path, `${size} ${unit} is over the limit of ${limit}`, { facts: { size, limit } });
    this.size = size;
    this.limit = limit;
  }
}

export class LinkLoopError extends FilesError {
  override readonly name = 'LinkLoopError';

  constructor(path: string) {
    super('link_loop', path, 'too many symbolic links');
  }
}

export class AccessDeniedError extends FilesError {
  override readonly name = 'AccessDeniedError';

  constructor(path: string, cause: unknown) {
    super('access_denied', path, 'permission denied', { facts: { errno: errnoOf(cause) }, cause });
  }
}

/** What the machine has run out of: descriptors, memory, room on the disk. */
const SHORTAGES: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  ENOMEM: 'not enough memory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
};

/** True when trying again later may help, and nothing was said about the path. */
export function isShortage(thrown: unknown): boolean {
  return Object.hasOwn(SHORTAGES, errnoOf(thrown) ?? '');
}

/** Disk full, quota, descriptors used up, i/o error: the machine, not the request. `errno` says which. */
export class FileSystemError extends FilesError {
  override readonly name = 'FileSystemError';
  readonly errno: string | undefined;

  constructor(path: string, cause: unknown) {
    const errno = errnoOf(cause);
    super('file_system', path, SHORTAGES[errno ?? ''] ?? `file system error${suffix(errno)}`, {
      facts: { errno },
      cause,
    });
    this.errno = errno;
  }

  get isShortage(): boolean {
    return Object.hasOwn(SHORTAGES, this.errno ?? '');
  }
}

export class InvalidRangeError extends FilesError {
  override readonly name = 'InvalidRangeError';

  constructor(path: string, value: number) {
    super('invalid_range', path, `not a count of bytes: ${value}`, { facts: { value } });
  }
}

export class InvalidPatternError extends FilesError {
  override readonly name = 'InvalidPatternError';

  constructor(pattern: string, why: string) {
    super('invalid_pattern', pattern, `invalid pattern: ${why}`, { facts: { why } });
  }
}

/** The pattern did not come to an end with a batch in time. */
export class PatternTooSlowError extends LocalError {
  override readonly name = 'PatternTooSlowError';

  constructor(ms: number) {
    super('pattern_too_slow', `the pattern takes more than ${ms} ms`, { facts: { ms } });
  }
}

/** The typed form of a system error; what is typed already, or is no system error, passes unchanged. */
export function typedError(thrown: unknown, path: string): unknown {
  if (thrown instanceof LocalError) return thrown;
  switch (errnoOf(thrown)) {
    case undefined:
      return thrown;
    case 'ENOENT':
    case 'ESTALE':
      return new NotFoundError(path);
    case 'ENOTDIR':
      return new NotADirectoryError(path);
    case 'EISDIR':
      return new NotAFileError(path, 'dir');
    case 'EEXIST':
      return new AlreadyExistsError(path);
    case 'ENOTEMPTY':
      return new NotEmptyError(path);
    case 'ELOOP':
      return new LinkLoopError(path);
    case 'ENAMETOOLONG':
      return new InvalidPathError(path, 'name too long', thrown);
    case 'ENXIO':
      return new NotAFileError(path, 'other');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new AccessDeniedError(path, thrown);
    default:
      return new FileSystemError(path, thrown);
  }
}

function suffix(errno: string | undefined): string {
  return errno === undefined ? '' : `: ${errno}`;
}
