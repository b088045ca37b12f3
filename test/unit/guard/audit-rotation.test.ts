// The audit log when its file is full.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditLog, type AuditLogOptions, DEFAULT_MAX_BYTES } from '../../../src/guard/audit.js';
import { numbersOf, record, upTo } from './audit-entries.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-'));
  path = join(dir, 'audit.log');
});
afterEach(() => removeFolder(dir));

const open = (options: Partial<AuditLogOptions> = {}): AuditLog => new AuditLog({ path, ...options });
const numbers = (file = path): number[] => numbersOf(file);

describe('rotation', () => {
  const files = (): string[] => readdirSync(dir).sort();

  test('keeps every file within its size, the newest lines in the newest, and no more files than it may', async () => {
    const audit = open({ maxBytes: 2000, keep: 3 });
    for (const i of upTo(200)) {
      record(audit, i);
      if (i % 5 === 0) await audit.flush();
    }
    await audit.close();
    expect(files()).toEqual(['audit.log', 'audit.log.1', 'audit.log.2', 'audit.log.3']);
    for (const file of files()) expect(readFileSync(join(dir, file)).length).toBeLessThanOrEqual(2000);
    const kept = ['.3', '.2', '.1', ''].flatMap((suffix) => numbers(`${path}${suffix}`));
    expect(kept).toEqual(upTo(200).slice(-kept.length));
    expect(kept.length).toBeGreaterThan(60);
  });

  test('happens at the default size when none is given', async () => {
    writeFileSync(path, '\n', { mode: 0o600 });
    truncateSync(path, DEFAULT_MAX_BYTES - 200);
    writeFileSync(path, '\n', { flag: 'a' });
    const audit = open();
    record(audit, 0);
    await audit.flush();
    expect(files()).toEqual(['audit.log']);
    audit.record({ method: 'test', params: 'x'.repeat(200), result: { i: 1 } });
    await audit.close();
    expect(files()).toEqual(['audit.log', 'audit.log.1']);
    expect(numbers()).toEqual([1]);
  });

  test('of a great batch at once leaves no file too large either', async () => {
    const audit = open({ maxBytes: 5000, keep: 100 });
    for (const i of upTo(1000)) record(audit, i);
    await audit.close();
    const all = files()
      .map((file) => Number(file.split('.')[2] ?? 0))
      .sort((a, b) => b - a);
    expect(all.length).toBeGreaterThan(10);
    for (const file of files()) expect(readFileSync(join(dir, file)).length).toBeLessThanOrEqual(5000);
    expect(all.flatMap((n) => numbers(n === 0 ? path : `${path}.${n}`))).toEqual(upTo(1000));
  });

  test('one line longer than a file gets a file of its own', async () => {
    const audit = open({ maxBytes: 100, keep: 2 });
    for (const i of [0, 1]) audit.record({ method: 'test', params: 'x '.repeat(200), result: { i } });
    await audit.close();
    expect(numbers(`${path}.1`)).toEqual([0]);
    expect(numbers()).toEqual([1]);
  });

  test('by another program is followed: the next lines go to the path, not to the renamed file', async () => {
    await using audit = open();
    record(audit, 0);
    await audit.flush();
    renameSync(path, `${path}.moved`);
    record(audit, 1);
    await audit.flush();
    expect(numbers(`${path}.moved`)).toEqual([0]);
    expect(numbers()).toEqual([1]);
    rmSync(path);
    record(audit, 2);
    audit.flushSync();
    expect(numbers()).toEqual([2]);
  });

  test('that is impossible is told once, and the log goes on growing', async () => {
    const errors: Error[] = [];
    await using audit = open({ maxBytes: 300, keep: 1, onError: (error) => errors.push(error) });
    mkdirSync(`${path}.1`); // a file cannot be renamed onto a folder that holds something
    writeFileSync(join(`${path}.1`, 'x'), '');
    for (const i of upTo(20)) {
      record(audit, i);
      await audit.flush();
    }
    expect(numbers()).toEqual(upTo(20));
    expect(errors.map((error) => error.message)).toEqual([`audit log ${path}: cannot be rotated`]);
    removeFolder(`${path}.1`);
    record(audit, 20);
    await audit.flush();
    expect(numbers()).toEqual([20]);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
