import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ClosedError } from '../../../../src/base/resource.js';
import {
  INLINE_BYTES,
  MAX_SPOOL_BYTES,
  MAX_SPOOL_READ_BYTES,
  MAX_UNWRITTEN_BYTES,
  OutputSpool,
} from '../../../../src/host/process/spool.js';
import { runs } from '../../../helpers/runs.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'spool-'));
});
afterAll(() => removeFolder(dir));

test('reads what a plain buffer would hold, at any offset, while it grows and after', async () => {
  const step = fc.record({
    append: fc.uint8Array({ maxLength: 40 }),
    reads: fc.boolean(),
    offset: fc.integer({ min: -3, max: 200 }),
    length: fc.nat(100),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.nat(60),
      fc.nat(150),
      async (steps, inlineBytes, maxBytes) => {
        await using spool = new OutputSpool({ dir, inlineBytes, maxBytes });
        let model = Buffer.alloc(0);
        for (const each of steps) {
          model = Buffer.concat([model, each.append]);
          void spool.append(each.append);
          const from = Math.max(0, each.offset);
          const expected = model.subarray(0, maxBytes).subarray(from, from + each.length);
          // Some reads are left out, so that appends also come right after each other.
          const got = each.reads ? await spool.read(each.offset, each.length) : Buffer.from(expected);
          expect(got).toEqual(Buffer.from(expected));
        }
        const lost = Math.max(0, model.length - maxBytes);
        expect([spool.size, spool.kept]).toEqual([model.length, model.length - lost]);
        expect(spool.loss).toEqual(
          lost === 0 ? undefined : { offset: maxBytes, bytes: lost, reason: 'size_limit' },
        );
      },
    ),
    { numRuns: runs(1500) },
  );
});

test('touches no disk while the output fits in memory', async () => {
  const place = join(dir, 'untouched');
  await using spool = new OutputSpool({ dir: place, inlineBytes: 10 });
  void spool.append(Buffer.alloc(10, 'x'));
  expect(await spool.read(0, 100)).toEqual(Buffer.alloc(10, 'x'));
  expect(existsSync(place)).toBe(false);
});

test('unless told otherwise 64 KiB fit in memory, and the next byte goes to disk', async () => {
  const place = join(dir, 'by-default');
  await using spool = new OutputSpool({ dir: place });
  void spool.append(Buffer.alloc(INLINE_BYTES, 'x'));
  expect(await spool.read(INLINE_BYTES - 1, 10)).toEqual(Buffer.from('x'));
  expect(existsSync(place)).toBe(false);
  void spool.append(Buffer.from('y'));
  expect(await spool.read(INLINE_BYTES - 1, 10)).toEqual(Buffer.from('xy'));
  expect(statSync(spool.path).size).toBe(INLINE_BYTES + 1);
});

test('unless told otherwise 256 MiB are kept, and what comes after is counted as lost', async () => {
  const place = join(dir, 'no-place-for-so-much'); // so that the disk of this machine is spared
  writeFileSync(place, '');
  await using spool = new OutputSpool({ dir: place });
  void spool.append(Buffer.alloc(MAX_SPOOL_BYTES));
  expect([spool.kept, spool.loss]).toEqual([MAX_SPOOL_BYTES, undefined]);
  void spool.append(Buffer.alloc(3));
  expect(spool.loss).toEqual({ offset: MAX_SPOOL_BYTES, bytes: 3, reason: 'size_limit' });
});

test('the file is for us alone, and goes when the spool is closed', async () => {
  const place = join(dir, 'private');
  const spool = new OutputSpool({ dir: place, inlineBytes: 1 });
  void spool.append(Buffer.from('secret'));
  expect((await spool.read(0, 10)).toString()).toBe('secret');
  expect([statSync(place).mode & 0o777, statSync(spool.path).mode & 0o777]).toEqual([0o700, 0o600]);
  await spool.close();
  expect(readdirSync(place)).toEqual([]);
  await expect(spool.read(0, 1)).rejects.toThrow(ClosedError);
});

test('a caller who waits when asked to keeps what is unwritten small', async () => {
  await using spool = new OutputSpool({ dir, inlineBytes: 0 });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let asked = 0;
  for (let i = 0; i < 256; i++) {
    const wait = spool.append(chunk);
    if (wait === undefined) continue;
    asked += 1;
    expect(i * chunk.length).toBeGreaterThanOrEqual(MAX_UNWRITTEN_BYTES - chunk.length);
    await wait;
  }
  expect(asked).toBeGreaterThan(0);
  expect(spool.kept).toBe(256 * chunk.length);
});

test('one read gives 1 MiB at most', async () => {
  await using spool = new OutputSpool({ dir, inlineBytes: 100 });
  await spool.append(Buffer.alloc(3 * MAX_SPOOL_READ_BYTES));
  expect(await spool.read(50, 10 * MAX_SPOOL_READ_BYTES)).toHaveLength(MAX_SPOOL_READ_BYTES);
});

test('a disk that refuses is reported, and what is in memory can still be read', async () => {
  const file = join(dir, 'not-a-directory');
  writeFileSync(file, '');
  await using spool = new OutputSpool({ dir: file, inlineBytes: 4 });
  void spool.append(Buffer.from('abcdefgh'));
  expect((await spool.read(0, 100)).toString()).toBe('abcd');
  expect(spool.append(Buffer.from('ij'))).toBeUndefined();
  expect(spool.loss).toMatchObject({
    offset: 4,
    bytes: 6,
    reason: 'disk_error',
    errno: expect.stringMatching(/^E/),
  });
  expect([spool.size, spool.kept]).toEqual([10, 4]);
});

test('what is appended after closing is ignored', async () => {
  const spool = new OutputSpool({ dir });
  await spool.close();
  expect(spool.append(Buffer.from('x'))).toBeUndefined();
  expect(spool.size).toBe(0);
});
