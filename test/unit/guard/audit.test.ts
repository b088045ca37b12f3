import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditLog, type AuditLogOptions, DEFAULT_MAX_QUEUED_BYTES } from '../../../src/guard/audit.js';
import { MAX_LINE_BYTES } from '../../../src/guard/audit-entry.js';
import { until } from '../../helpers/wait.js';
import { entriesOf, type Entry, numbersOf, record, upTo } from './audit-entries.js';
import { removeFolder } from '../../helpers/remove-folder.js';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'audit-'));
  path = join(dir, 'audit.log');
});
afterEach(() => removeFolder(dir));

const open = (options: Partial<AuditLogOptions> = {}): AuditLog => new AuditLog({ path, ...options });
const entries = (file = path): Entry[] => entriesOf(file);
const numbers = (file = path): number[] => numbersOf(file);

describe('an entry', () => {
  test('has the fields of the specification, redacted', async () => {
    await using audit = open();
    audit.record({
      method: 'exec.start',
      timeMs: Date.UTC(2026, 1, 25, 10),
      sessionId: 's_1',
      clientName: 'agent',
      params: {
        argv: ['curl', '--token', 'hunter2'],
        env: { A: 'hunter2' },
        stdin: 'hunter2',
        password: 'hunter2',
      },
      result: { process_id: 'p_1', content: 'hunter2' },
      exitCode: 0,
      durationMs: 1.23456,
    });
    audit.record({
      method: 'fs.read',
      error: { code: -32002, message: 'outside; token=hunter2' },
      exitCode: null,
    });
    await audit.flush();
    expect(entries()).toEqual([
      {
        timestamp: '2026-02-25T10:00:00.000Z',
        session_id: 's_1',
        client_name: 'agent',
        method: 'exec.start',
        params: {
          argv: ['curl', '--token', '[redacted]'],
          env: { A: '[set]' },
          stdin: '<7 bytes>',
          password: '[redacted]',
        },
        result: { process_id: 'p_1', content: '<7 bytes>' },
        exit_code: 0,
        duration_ms: 1.235,
      },
      {
        timestamp: expect.any(String),
        method: 'fs.read',
        exit_code: null,
        error: { code: -32002, message: 'outside; token=[redacted]' },
      },
    ]);
    expect(Object.keys(entries()[0] ?? {})[0]).toBe('timestamp');
  });

  test('is one line, whatever is in it', async () => {
    await using audit = open();
    const odd = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\n', '\r\n', '\u2028', '\u0085', '\ud800', '\0'),
    );
    const given = fc.sample(
      fc.record({
        method: odd,
        sessionId: odd,
        clientName: odd,
        params: fc.anything(),
        result: fc.anything(),
      }),
      100,
    );
    for (const entry of given) audit.record(entry);
    audit.record({ method: 'x', timeMs: Number.NaN, durationMs: Number.NaN, params: { big: 1n } });
    await audit.flush();
    const text = readFileSync(path, 'utf8');
    expect(text.split(/\r\n|[\n\r\u0085\u2028\u2029]/)).toHaveLength(102); // 101 lines and what follows the last
    expect(entries()).toHaveLength(101);
  });

  test('that would be too long loses its params, then its result', async () => {
    await using audit = open();
    const wide = Array.from({ length: 60 }, () => '語'.repeat(1000));
    audit.record({ method: 'a', params: wide, result: { i: 1 } });
    audit.record({ method: 'b', params: wide, result: wide });
    await audit.flush();
    expect(entries()).toMatchObject([
      { method: 'a', params: '[too long]', result: { i: 1 } },
      { method: 'b', params: '[too long]' },
    ]);
    for (const line of readFileSync(path).toString().split('\n'))
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(MAX_LINE_BYTES);
  });
});

describe('writing', () => {
  test('keeps the order and loses nothing at close', async () => {
    const audit = open();
    for (const i of upTo(5000)) record(audit, i);
    await audit.close();
    expect(numbers()).toEqual(upTo(5000));
    expect(audit).toMatchObject({ queuedBytes: 0, lost: 0, failures: 0 });
  });

  test('does not block: what is recorded is in the file a turn later, in few writes', async () => {
    await using audit = open();
    record(audit, 0);
    expect(readFileSync(path, 'utf8')).toBe('');
    await audit.flush();
    expect(numbers()).toEqual([0]);
  });

  test('entries recorded while the log is closing are written too', async () => {
    const audit = open();
    record(audit, 0);
    const closing = audit.close();
    record(audit, 1);
    await Promise.resolve();
    record(audit, 2);
    await closing;
    expect(numbers()).toEqual([0, 1, 2]);
  });

  test('after closing an entry is counted as lost and told of, and nothing throws', async () => {
    const errors: Error[] = [];
    const audit = open({ onError: (error) => errors.push(error) });
    await audit.close();
    record(audit, 0);
    audit.flushSync();
    expect(audit.lost).toBe(1);
    expect(errors.map((error) => error.message)).toEqual(['the audit log is closed']);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test('flushSync writes what is waiting before it returns', async () => {
    await using audit = open();
    for (const i of upTo(10)) record(audit, i);
    audit.flushSync();
    expect(numbers()).toEqual(upTo(10));
    record(audit, 10);
    await audit.flush();
    expect(numbers()).toEqual(upTo(11));
  });

  test('flushSync neither loses nor repeats a batch that is just being written', async () => {
    await using audit = open();
    for (let round = 0; round < 100; round++) {
      for (let i = 0; i < 20; i++) record(audit, round * 20 + i);
      for (let turns = 0; turns < round % 4; turns++) await new Promise((resolve) => setImmediate(resolve));
      audit.flushSync();
      expect(numbers().sort((a, b) => a - b)).toEqual(upTo((round + 1) * 20));
    }
  });
});

describe('a disk slower than the callers', () => {
  test('makes ready wait, and only then', async () => {
    await using audit = open({ maxQueuedBytes: 2000 });
    await audit.ready();
    for (const i of upTo(40)) record(audit, i);
    expect(audit.queuedBytes).toBeGreaterThan(2000);
    let isReady = false;
    const waiting = audit.ready().then(() => (isReady = true));
    await Promise.resolve();
    expect(isReady).toBe(false);
    await waiting;
    expect(audit.queuedBytes).toBeLessThan(2000);
    await audit.flush();
    expect(numbers()).toEqual(upTo(40));
  });

  test('has a default for how much may wait, and it can be reached', async () => {
    await using audit = open();
    const params = Array.from({ length: 30 }, () => 'x'.repeat(1000));
    let count = 0;
    for (; audit.queuedBytes < DEFAULT_MAX_QUEUED_BYTES; count++) audit.record({ method: 'test', params });
    let isReady = false;
    const waiting = audit.ready().then(() => (isReady = true));
    await Promise.resolve();
    expect(isReady).toBe(false);
    await waiting;
    await audit.flush();
    expect(entries()).toHaveLength(count);
  });

  test('keeps the queue bounded for callers who ask, whatever they record', async () => {
    await using audit = open({ maxQueuedBytes: 10_000 });
    let most = 0;
    for (const i of upTo(5000)) {
      await audit.ready();
      record(audit, i);
      most = Math.max(most, audit.queuedBytes);
    }
    expect(most).toBeLessThan(10_000 + 200);
    await audit.flush();
    expect(numbers()).toEqual(upTo(5000));
  });

  test('slows down a caller who does not ask, instead of dropping or hoarding', async () => {
    await using audit = open({ maxQueuedBytes: 10_000 });
    for (const i of upTo(20_000)) {
      record(audit, i);
      expect(audit.queuedBytes).toBeLessThanOrEqual(20_000);
    }
    expect(readFileSync(path).length).toBeGreaterThan(1_000_000); // written without a turn of the event loop
    await audit.flush();
    expect(numbers()).toEqual(upTo(20_000));
    expect(audit.lost).toBe(0);
  });
});

describe('when writing fails', () => {
  test('a full disk is told of and counted, the service goes on, and closing ends', async () => {
    const errors: Error[] = [];
    const audit = new AuditLog({
      path: '/dev/full',
      maxQueuedBytes: 2000,
      onError: (error) => errors.push(error),
    });
    record(audit, 0);
    await expect(audit.flush()).rejects.toMatchObject({ code: 'audit_unwritten' });
    expect(errors[0]).toMatchObject({ code: 'ENOSPC' });
    for (const i of upTo(1000)) record(audit, i);
    expect(audit.queuedBytes).toBeLessThanOrEqual(2000); // bounded
    expect(audit.lost).toBeGreaterThan(900); // and honest
    await audit.ready(); // does not hold anybody up
    await audit.close();
    expect(audit.failures).toBeGreaterThanOrEqual(2);
    expect(audit.lost).toBe(1001);
    expect(errors.at(-1)).toMatchObject({ code: 'audit_lost' });
  });

  test('a listener that throws does not matter', async () => {
    const audit = new AuditLog({
      path: '/dev/full',
      onError: () => {
        throw new Error('listener');
      },
    });
    record(audit, 0);
    audit.flushSync();
    await audit.close();
    expect(audit.failures).toBeGreaterThan(0);
  });

  test('a folder that is removed is made anew', async () => {
    path = join(dir, 'sub', 'audit.log');
    await using audit = open();
    record(audit, 0);
    await audit.flush();
    removeFolder(join(dir, 'sub'));
    record(audit, 1);
    await audit.flush();
    expect(numbers()).toEqual([1]);
  });

  test('entries are kept and written when it works again, by itself, with a word about those that did not fit', async () => {
    path = join(dir, 'sub', 'audit.log');
    const errors: Error[] = [];
    await using audit = open({ maxQueuedBytes: 1000, onError: (error) => errors.push(error) });
    renameSync(join(dir, 'sub'), join(dir, 'away'));
    writeFileSync(join(dir, 'sub'), 'in the way');
    record(audit, 0);
    await expect(audit.flush()).rejects.toThrow('cannot be written');
    for (const i of upTo(100)) record(audit, i + 1);
    expect(errors.length).toBeGreaterThan(0);
    const lost = audit.lost;
    expect(lost).toBeGreaterThan(50);
    rmSync(join(dir, 'sub'));
    await until(() => audit.queuedBytes === 0, 'the log to try again');
    const kept = 101 - lost;
    expect(numbers().slice(0, kept)).toEqual(upTo(kept));
    expect(entries().at(-1)).toMatchObject({ method: 'audit.gap', result: { lost } });
    record(audit, 1000);
    await audit.flush();
    expect(numbers().at(-1)).toBe(1000);
    expect(entries().filter((entry) => entry['method'] === 'audit.gap')).toHaveLength(1);
  });

  test('a pause between attempts keeps no process alive and hides no later success', async () => {
    const audit = new AuditLog({ path: '/dev/full' });
    for (const i of upTo(3)) {
      record(audit, i);
      await audit.flush().catch(() => {});
    }
    expect(audit.failures).toBeGreaterThanOrEqual(3); // flush does not wait for the pause to end
    await audit.close();
  });
});
