// An SQLite database with one promise: what was acknowledged is on the disk.

import type Libsql from 'libsql';
import { LocalError } from '../../base/errors.js';
import { ClosedError, Resource } from '../../base/resource.js';
import { DatabaseError, explainDatabaseError } from './database-error.js';
import { scanSql } from './sql-scan.js';
import { bindValue, convertRow, type SqlRow, type SqlValue } from './sql-values.js';

/** Prepared statements kept; SQL put together anew each time would otherwise keep them all. */
export const MAX_STATEMENTS = 128;

export interface RunResult {
  readonly changes: number;
  readonly lastId: number | bigint;
}

interface Prepared {
  readonly statement: Libsql.Statement;
  readonly placeholders: number;
}

/** Every call is synchronous: SQLite is, and a transaction must not be open while others run. */
export class Database extends Resource {
  readonly path: string;
  readonly #libsql: Libsql.Database;
  readonly #prepared = new Map<string, Prepared>();
  #inTransaction = false;

  constructor(path: string, libsql: Libsql.Database) {
    super();
    this.path = path;
    this.#libsql = libsql;
  }

  /** Any number of statements, without values. */
  exec(sql: string): void {
    this.#guard(() => this.#libsql.exec(sql));
  }

  run(sql: string, ...values: SqlValue[]): RunResult {
    return this.#query(sql, values, (statement, bound) => {
      const { changes, lastInsertRowid } = statement.run(bound);
      return { changes, lastId: lastInsertRowid };
    });
  }

  /** The first row. */
  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#query(sql, values, (statement, bound) => {
      const row = statement.get(bound) as Record<string, unknown> | undefined;
      if (row === undefined) return undefined;
      delete row['_metadata']; // how long it took, which nobody asked
      return convertRow(row);
    });
  }

  /** All rows, in memory at once: ask for few with LIMIT. */
  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#query(sql, values, (statement, bound) =>
      (statement.all(bound) as Record<string, unknown>[]).map(convertRow),
    );
  }

  /**
   * All of `task` or nothing. It has to be synchronous: whatever ran in between would be part of it. The lock for writing
   * is taken at the start, where waiting for it is still possible.
   */
  transaction<T>(task: () => T): T {
    if (this.#inTransaction) throw new LocalError('nested_transaction', 'a transaction is open already');
    this.exec('BEGIN IMMEDIATE');
    this.#inTransaction = true;
    try {
      const result = task();
      if (result instanceof Promise) {
        result.catch(() => {});
        throw new TypeError('a transaction cannot wait for a promise');
      }
      this.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#inTransaction = false;
    }
  }

  /** What is wrong with the file; nothing, if it is sound. Reads all of it. */
  findDamage(): string[] {
    try {
      const found = this.all('PRAGMA integrity_check').map((row) => String(row['integrity_check']));
      return found.length === 1 && found[0] === 'ok' ? [] : found;
    } catch (error) {
      if (error instanceof DatabaseError && error.code === 'database_corrupt') return [error.message];
      throw error;
    }
  }

  /** The driver lets go of its descriptors only when its statements have been collected as garbage. */
  protected async release(): Promise<void> {
    try {
      this.#libsql.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // Another process is at it; the next one to open finds the log and goes on from there.
    }
    this.#prepared.clear();
    this.#libsql.close();
  }

  #query<T>(sql: string, values: SqlValue[], ask: (statement: Libsql.Statement, bound: unknown[]) => T): T {
    return this.#guard(() => {
      const { statement, placeholders } = this.#prepare(sql);
      // The driver would use the values of the last time for those that are missing.
      if (values.length !== placeholders)
        throw new LocalError('bad_sql', `${placeholders} values are needed, ${values.length} given`);
      return ask(statement, values.map(bindValue));
    });
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) {
      this.#prepared.delete(sql); // to the end: the first of the map is the one not used for longest
      this.#prepared.set(sql, known);
      return known;
    }
    const { statements, placeholders, namedPlaceholders } = scanSql(sql);
    if (statements !== 1) throw new LocalError('bad_sql', `one statement is needed, not ${statements}`);
    if (namedPlaceholders > 0) throw new LocalError('bad_sql', 'placeholders are written as a plain ?');
    const prepared = { statement: this.#libsql.prepare(sql).safeIntegers(), placeholders };
    const [oldest] = this.#prepared.keys();
    if (this.#prepared.size >= MAX_STATEMENTS && oldest !== undefined) this.#prepared.delete(oldest);
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  #guard<T>(work: () => T): T {
    if (this.closing) throw new ClosedError('database');
    try {
      return work();
    } catch (error) {
      throw explainDatabaseError(error, this.path);
    }
  }

  #rollBack(): void {
    try {
      this.#libsql.exec('ROLLBACK');
    } catch {
      // SQLite has done it already, as it does when the disk is full.
    }
  }
}
