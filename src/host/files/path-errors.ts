// What can be wrong with a path or a root by itself. Apart from the other errors, because a server knows of these before
// its first answer.

import { LocalError } from '../../base/errors.js';

/** Every failure of this folder: `path` is the path as it was asked for. */
export class FilesError extends LocalError {
  override readonly name: string = 'FilesError';
  readonly path: string;

  constructor(
    code: string,
    path: string,
    message: string,
    options: { facts?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(code, message, { ...options, facts: { path, ...options.facts } });
    this.path = path;
  }
}

export class InvalidPathError extends FilesError {
  override readonly name = 'InvalidPathError';

  constructor(path: string, why: string, cause?: unknown) {
    super('invalid_path', path, `invalid path: ${why}`, { facts: { why }, cause });
  }
}

/** Without /proc/self/fd there is no way in Node to check what was opened, so nothing is opened at all. */
export class FilesUnsupportedError extends FilesError {
  override readonly name = 'FilesUnsupportedError';

  constructor(path: string, cause?: unknown) {
    super('files_unsupported', path, 'rooted files need Linux with /proc mounted', { cause });
  }
}
