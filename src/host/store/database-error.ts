// What went wrong in the database, in kinds a caller can act on.

import { LocalError, toError } from '../../base/errors.js';

export type DatabaseFailure =
  /** The file is damaged, or is no database at all. It is left as it is. */
  | 'database_corrupt'
  /** Another process has held it for longer than we wait. */
  | 'database_busy'
  | 'database_full'
  | 'database_constraint'
  /** It cannot be opened or written: missing directory, no permission, no driver for this platform. */
  | 'database_unusable'
  /** A mistake in our own SQL, and everything else. */
  | 'database_failed';

export class DatabaseError extends LocalError {
  override readonly name = 'DatabaseError';
  declare readonly code: DatabaseFailure;

  constructor(code: DatabaseFailure, path: string, cause: unknown) {
    super(code, `${path}: ${toError(cause).message}`, { cause, facts: { path, sqlite: nameOf(cause) } });
  }
}

/** A newer version of this program has written the file. */
export class SchemaTooNewError extends LocalError {
  override readonly name = 'SchemaTooNewError';

  constructor(path: string, found: number, known: number) {
    super('schema_too_new', `${path} has schema ${found}; this version knows schemas up to ${known}`, {
      facts: { path, found, known },
    });
  }
}

/** Extended codes begin with the plain one: `SQLITE_CONSTRAINT_UNIQUE`. */
const KINDS: readonly (readonly [string, DatabaseFailure])[] = [
  ['SQLITE_CORRUPT', 'database_corrupt'],
  ['SQLITE_NOTADB', 'database_corrupt'],
  ['SQLITE_BUSY', 'database_busy'],
  ['SQLITE_LOCKED', 'database_busy'],
  ['SQLITE_FULL', 'database_full'],
  ['SQLITE_CONSTRAINT', 'database_constraint'],
  ['SQLITE_CANTOPEN', 'database_unusable'],
  ['SQLITE_READONLY', 'database_unusable'],
  ['SQLITE_PERM', 'database_unusable'],
  ['SQLITE_IOERR', 'database_unusable'],
];

export function explainDatabaseError(
  error: unknown,
  path: string,
  otherwise: DatabaseFailure = 'database_failed',
): LocalError {
  if (error instanceof LocalError) return error;
  const name = nameOf(error) ?? '';
  const kind = KINDS.find(([code]) => name.startsWith(code))?.[1];
  return new DatabaseError(kind ?? otherwise, path, error);
}

/** `SQLITE_BUSY`; or the system's `EACCES`, when it did not get as far as SQLite. */
function nameOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' && error.code !== '' ? error.code : undefined;
}
