import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, MAX_STATEMENTS } from '../../../../src/host/store/database.js';
import {
  BUSY_TIMEOUT_MS,
  MAX_IDLE_WAL_BYTES,
  openDatabase,
} from '../../../../src/host/store/open-database.js';
import type { SqlValue } from '../../../../src/host/store/sql-values.js';
import { until } from '../../../helpers/wait.js';
import { runs } from '../../../helpers/runs.js';
import { Programs } from './programs.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const MIGRATIONS = ['CREATE TABLE event (id INTEGER PRIMARY KEY, body)'];

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'database-'));
  path = join(dir, 'state', 'inbox.db');
});
afterEach(() => removeFolder(dir));

const openInbox = (migrations: readonly string[] = MIGRATIONS, busyTimeoutMs = 50): Promise<Database> =>
  openDatabase({ path, migrations, busyTimeoutMs });

test('is set up for durability, and its files are ours alone', async () => {
  await using database = await openInbox();
  const pragma = (name: string): unknown => Object.values(database.get(`PRAGMA ${name}`) ?? {})[0];
  expect(pragma('journal_mode')).toBe('wal');
  expect(pragma('synchronous')).toBe(2);
  expect(pragma('foreign_keys')).toBe(1);
  expect(pragma('journal_size_limit')).toBe(MAX_IDLE_WAL_BYTES);
  expect(pragma('busy_timeout')).toBe(50);
  const files = readdirSync(join(dir, 'state')).sort();
  expect(files).toEqual(['inbox.db', 'inbox.db-shm', 'inbox.db-wal']);
  for (const file of files) expect(statSync(join(dir, 'state', file)).mode & 0o7777).toBe(0o600);
  expect(statSync(join(dir, 'state')).mode & 0o7777).toBe(0o700);
});

test('unless told otherwise it waits 2 s for another process', async () => {
  await using database = await openDatabase({ path, migrations: MIGRATIONS });
  expect(database.get('PRAGMA busy_timeout')).toMatchObject({ timeout: BUSY_TIMEOUT_MS });
});

test('gives back what it was given, exactly', async () => {
  await using database = await openInbox();
  const value: fc.Arbitrary<SqlValue> = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.constant(null),
  );
  fc.assert(
    fc.property(value, (given) => {
      const { lastId } = database.run('INSERT INTO event (body) VALUES (?)', given);
      const found = database.get('SELECT body, typeof(body) AS type FROM event WHERE id = ?', lastId);
      const exact = typeof given === 'bigint' && Number.isSafeInteger(Number(given)) ? Number(given) : given;
      expect(found?.['body']).toEqual(exact);
      expect(found?.['type'] === 'integer').toBe(typeof given === 'bigint' || Number.isSafeInteger(given));
    }),
    { numRuns: runs(300) },
  );
});

test.each([
  ['a boolean', true],
  ['undefined', undefined],
  ['an object', {}],
  ['a list', [1]],
  ['a date', new Date()],
  ['NaN', Number.NaN],
  ['too large a number', 2n ** 63n],
  ['text with a zero byte', 'a\0b'],
])('%s is refused instead of stored as something else', async (_what, value) => {
  await using database = await openInbox();
  const bad = value as unknown as SqlValue;
  expect(() => database.run('INSERT INTO event (body) VALUES (?)', bad)).toThrow(
    expect.objectContaining({ code: 'bad_sql_value' }),
  );
  expect(database.all('SELECT * FROM event')).toEqual([]);
});

test('values must be as many as placeholders, and statements one', async () => {
  await using database = await openInbox();
  const bad = expect.objectContaining({ code: 'bad_sql' });
  database.run('INSERT INTO event (id, body) VALUES (?, ?)', 1, 'first');
  expect(() => database.run('INSERT INTO event (id, body) VALUES (?, ?)', 2)).toThrow(bad);
  expect(() => database.run('INSERT INTO event (id, body) VALUES (?, ?)', 2, 'b', 'c')).toThrow(bad);
  expect(() => database.all('SELECT 1; SELECT 2')).toThrow(bad);
  expect(() => database.all('SELECT :id', 1)).toThrow(bad);
  expect(() => database.all('')).toThrow(bad);
  expect(database.all('SELECT * FROM event').map((row) => ({ ...row }))).toEqual([{ id: 1, body: 'first' }]);
});

test('a transaction happens as a whole or not at all', async () => {
  await using database = await openInbox();
  const insert = (id: number): void => void database.run('INSERT INTO event (id) VALUES (?)', id);
  const count = (): unknown => database.get('SELECT count(*) AS n FROM event')?.['n'];
  expect(database.transaction(() => (insert(1), insert(2), 'done'))).toBe('done');
  expect(() => database.transaction(() => (insert(3), insert(1)))).toThrow(
    expect.objectContaining({ code: 'database_constraint' }),
  );
  expect(() => database.transaction(async () => insert(4))).toThrow('promise');
  expect(() => database.transaction(() => database.transaction(() => insert(5)))).toThrow('open already');
  expect(count()).toBe(2);
  database.transaction(() => insert(6));
  expect(count()).toBe(3);
});

test('migrations run once, in order, and all or nothing', async () => {
  await (await openInbox()).close();
  const second = 'ALTER TABLE event ADD COLUMN seen INTEGER NOT NULL DEFAULT 0';
  {
    await using database = await openInbox([...MIGRATIONS, second]);
    expect(database.get('PRAGMA user_version')).toMatchObject({ user_version: 2 });
    expect(database.all('SELECT * FROM event')).toEqual([]);
  }
  const broken = 'CREATE TABLE half (x); CREATE TABLE event (again)';
  await expect(openInbox([...MIGRATIONS, second, broken])).rejects.toMatchObject({ code: 'database_failed' });
  await using database = await openInbox([...MIGRATIONS, second]);
  expect(database.get('PRAGMA user_version')).toMatchObject({ user_version: 2 });
  expect(database.all("SELECT name FROM sqlite_master WHERE name = 'half'")).toEqual([]);
});

test('a schema from the future is refused by name and number', async () => {
  await (await openInbox([...MIGRATIONS, 'CREATE TABLE later (x)'])).close();
  await expect(openInbox()).rejects.toMatchObject({
    code: 'schema_too_new',
    facts: { path, found: 2, known: 1 },
  });
});

test('a prepared statement sees columns that were added later', async () => {
  await using database = await openInbox();
  database.run('INSERT INTO event (id) VALUES (1)');
  const ask = (): unknown => Object.keys(database.get('SELECT * FROM event') ?? {});
  expect(ask()).toEqual(['id', 'body']);
  database.exec('ALTER TABLE event ADD COLUMN seen');
  expect(ask()).toEqual(['id', 'body', 'seen']);
  database.exec('DROP TABLE event'); // no statement is left open half-way
});

test('more different statements than are kept work as well', async () => {
  await using database = await openInbox();
  for (let round = 0; round < 2; round++)
    for (let n = 0; n < MAX_STATEMENTS * 2; n++)
      expect(database.get(`SELECT ${n} AS n`)).toMatchObject({ n });
});

test('what is no database, or a damaged one, is refused and left as it is', async () => {
  await using healthy = await openInbox();
  for (let id = 1; id <= 500; id++) healthy.run('INSERT INTO event VALUES (?, ?)', id, 'x'.repeat(200));
  expect(healthy.findDamage()).toEqual([]);
  await healthy.close();
  const whole = readFileSync(path);

  const garbage = Buffer.from('this is a letter, not a database. '.repeat(300));
  writeFileSync(path, garbage);
  await expect(openInbox()).rejects.toMatchObject({ code: 'database_corrupt', facts: { path } });
  expect(readFileSync(path)).toEqual(garbage);

  writeFileSync(path, Buffer.from(whole).fill(0xff, 4096, 40_960));
  await using damaged = await openInbox();
  expect(() => damaged.all('SELECT * FROM event')).toThrow(
    expect.objectContaining({ code: 'database_corrupt' }),
  );
  expect(damaged.findDamage().length).toBeGreaterThan(0);
});

test('where there can be no file it says so', async () => {
  writeFileSync(join(dir, 'state'), 'a file where a directory should be');
  await expect(openInbox()).rejects.toMatchObject({ code: 'database_unusable' });
});

test('a database in use by another is refused after a wait', async () => {
  await using first = await openInbox();
  await using second = await openInbox();
  first.transaction(() => {
    expect(() => second.run('INSERT INTO event (id) VALUES (1)')).toThrow(
      expect.objectContaining({ code: 'database_busy' }),
    );
    expect(second.all('SELECT * FROM event')).toEqual([]); // reading goes on
  });
});

test('closing twice is no harm, and nothing can be asked afterwards', async () => {
  const database = await openInbox();
  await Promise.all([database.close(), database.close()]);
  expect(() => database.all('SELECT 1')).toThrow(expect.objectContaining({ code: 'closed' }));
  expect(() => database.transaction(() => 1)).toThrow(expect.objectContaining({ code: 'closed' }));
});

test('the log is moved into the database at the end', async () => {
  const database = await openInbox();
  for (let id = 1; id <= 100; id++) database.run('INSERT INTO event VALUES (?, ?)', id, 'x'.repeat(200));
  await database.close();
  expect(statSync(path).size).toBeGreaterThan(20_000);
});

test('a writer killed at any moment leaves every row it announced, and a sound database', async () => {
  using programs = new Programs('inserter');
  let first = 1;
  let announced = 0;
  for (let round = 0; round < runs(30, 8); round++) {
    const running = programs.start(path, String(first));
    const enough = 1 + ((round * 13) % 40);
    await until(() => running.lines.length >= enough, 'some rows');
    await running.kill();
    const last = Number(running.lines.at(-1));
    announced += running.lines.length;
    await using database = await openInbox([
      'CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT',
    ]);
    const { n, top } = database.get('SELECT count(*) AS n, max(id) AS top FROM event') ?? {};
    // All that was announced, and at most the one that was being announced when the writer died.
    expect(n).toBe(top);
    expect([last, last + 1]).toContain(top);
    expect(database.findDamage()).toEqual([]);
    first = Number(top) + 1;
  }
  expect(announced).toBeGreaterThan(60);
});
