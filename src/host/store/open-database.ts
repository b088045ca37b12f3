// Opens an SQLite database, set up for durability and brought to the present schema.

import { closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolders } from '../make-folders.js';
import { Database } from './database.js';
import { explainDatabaseError, SchemaTooNewError } from './database-error.js';
import { PRIVATE_MODE } from './replace-file.js';

/** Waiting for another process blocks this one, event loop and all, so it is short. */
export const BUSY_TIMEOUT_MS = 2000;
/** The log is cut back to this much when its content has moved into the database. */
export const MAX_IDLE_WAL_BYTES = 4 * 1024 * 1024;

export interface DatabaseOptions {
  readonly path: string;
  /** One step each: the schema's number is how many have been applied. Only ever add to the end. */
  readonly migrations: readonly string[];
  readonly busyTimeoutMs?: number;
}

/** Rejects with DatabaseError or SchemaTooNewError; the file is then as it was. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const path = resolve(options.path); // never anything that the driver could take for an address in the network
  let database: Database | undefined;
  try {
    const { default: Driver } = await import('libsql');
    createPrivately(path);
    database = new Database(path, new Driver(path, { timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS }));
    configure(database);
    migrate(database, options.migrations);
    return database;
  } catch (error) {
    await database?.close();
    throw explainDatabaseError(error, path, 'database_unusable');
  }
}

/**
 * FULL: each commit waits until it is on the disk. NORMAL would be safe against damage and against our own death, but a
 * power cut could take back what we have acknowledged. WAL lets others read meanwhile.
 */
function configure(database: Database): void {
  database.get('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA foreign_keys = ON');
  database.get(`PRAGMA journal_size_limit = ${MAX_IDLE_WAL_BYTES}`);
}

function migrate(database: Database, migrations: readonly string[]): void {
  const found = readVersion(database);
  if (found > migrations.length) throw new SchemaTooNewError(database.path, found, migrations.length);
  for (let version = found; version < migrations.length; ) {
    version = database.transaction(() => {
      const now = readVersion(database); // another process may have been faster
      const step = migrations[now];
      if (step === undefined) return now;
      database.exec(step);
      database.exec(`PRAGMA user_version = ${now + 1}`);
      return now + 1;
    });
  }
}

function readVersion(database: Database): number {
  return Number(database.get('PRAGMA user_version')?.['user_version']);
}

/** SQLite gives its log and its index the mode of the database, so this is all it takes. */
function createPrivately(path: string): void {
  makeFolders(dirname(path));
  closeSync(openSync(path, 'a', PRIVATE_MODE));
}
