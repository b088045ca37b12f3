// Files that hold secrets: read once, whole, and only if nobody else could read them too.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { errnoOf, LocalError } from '../base/errors.js';

/** A token, a key or a chain of certificates; whatever is larger is some other file. */
export const MAX_SECRET_FILE_BYTES = 1024 * 1024;

const OTHERS_READ = 0o004;
const OTHERS_OR_GROUP_WRITE = 0o022;

export class SecretFileError extends LocalError {
  override readonly name = 'SecretFileError';

  constructor(key: string, file: string, why: string, cause?: unknown) {
    super('bad_secret_file', `${key}: ${file} ${why}`, { facts: { key, file }, cause });
  }
}

/** `key` is what the configuration calls it. A group may be let in, as it is to share the keys of a machine. */
export function readSecretFile(key: string, file: string, options: { readonly secret: boolean }): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK); // a FIFO would keep us waiting
    const { mode, size } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      throw new SecretFileError(key, file, 'is not a regular file');
    if (size > MAX_SECRET_FILE_BYTES)
      throw new SecretFileError(key, file, `is larger than ${MAX_SECRET_FILE_BYTES} bytes`);
    if (options.secret && (mode & OTHERS_READ) !== 0)
      throw new SecretFileError(key, file, `can be read by everybody; try: chmod 600 ${file}`);
    if (options.secret && (mode & OTHERS_OR_GROUP_WRITE) !== 0)
      throw new SecretFileError(key, file, `can be written by others; try: chmod 600 ${file}`);
    return readFileSync(fd);
  } catch (thrown) {
    if (thrown instanceof SecretFileError) throw thrown;
    throw new SecretFileError(key, file, `cannot be read (${errnoOf(thrown)})`, thrown);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
