// Copies: the plan of a part, one file with cuts and damage, and what is read of a remote one.

import { createHash } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyFile, WRITE_CHUNK_BYTES } from '../../../src/client/rex/copy-file.js';
import { LOCAL_CHUNK_BYTES, localSide } from '../../../src/client/rex/copy-local.js';
import {
  isPartOf,
  MAX_NAME_BYTES,
  partName,
  planResume,
  TAIL_BYTES,
} from '../../../src/client/rex/copy-plan.js';
import { MAX_READS_AHEAD, openRemoteFile, READ_CHUNK_BYTES } from '../../../src/client/rex/copy-read.js';
import { MAX_FOLDER_ENTRIES, parseModeText, remoteSide } from '../../../src/client/rex/copy-remote.js';
import { type CopySide, type EntryFacts, isPlainName } from '../../../src/client/rex/copy-side.js';
import type { RexClient } from '../../../src/client/rex/rex-client.js';
import { runs } from '../../helpers/runs.js';

const signal = new AbortController().signal;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const BIG = Buffer.alloc(2 * WRITE_CHUNK_BYTES + 12_345, 'some text of no great length. ');

async function source(bytes: Buffer = BIG): Promise<{ source: string; facts: EntryFacts; goal: string }> {
  const path = join(folder, 'source');
  await writeFile(path, bytes);
  const facts = await localSide.stat(path);
  if (facts === undefined) throw new Error('not there');
  return { source: path, facts, goal: join(folder, 'goal') };
}

const copy = (given: Awaited<ReturnType<typeof source>>, to: CopySide = localSide) =>
  copyFile({ from: localSide, to, signal, ...given });

const partOf = (given: Awaited<ReturnType<typeof source>>): string =>
  join(folder, partName('goal', { place: given.source, ...given.facts }));

describe('the plan', () => {
  test('never keeps more than the source has, never checks beyond what is kept, checks at most TAIL_BYTES', () => {
    const size = fc.integer({ min: 0, max: 8 * TAIL_BYTES });
    fc.assert(
      fc.property(size, fc.option(size, { nil: undefined }), (whole, part) => {
        const { offset, discard, check } = planResume(whole, part);
        expect(offset).toBeLessThanOrEqual(whole);
        expect(offset === 0 || offset === part).toBe(true);
        expect(discard).toBe(part !== undefined && part > whole);
        expect(check.to - check.from).toBe(Math.min(offset, TAIL_BYTES));
        expect(check.to).toBe(offset);
      }),
      { numRuns: runs(5000) },
    );
  });

  test('names a part after its goal and the version of its source, within MAX_NAME_BYTES', () => {
    const name = fc
      .string({ minLength: 1, maxLength: 255, unit: 'grapheme' })
      .filter((text) => isPlainName(text));
    fc.assert(
      fc.property(name, fc.nat(), fc.nat(), (goal, size, mtimeMs) => {
        const part = partName(goal, { place: 'web:/a', size, mtimeMs });
        expect(Buffer.byteLength(part)).toBeLessThanOrEqual(MAX_NAME_BYTES);
        expect(isPartOf(goal, part)).toBe(true);
        expect(isPartOf(`${goal}x`, part)).toBe(false);
        expect(part).not.toBe(partName(goal, { place: 'web:/a', size: size + 1, mtimeMs }));
        expect(part).not.toBe(partName(goal, { place: 'web:/a', size, mtimeMs: mtimeMs + 1 }));
      }),
      { numRuns: runs(3000) },
    );
  });

  test.each([
    ['-rw-r--r--', 0o644],
    ['drwxr-xr-x', 0o755],
    ['-rwsr-x--T', 0o750],
    ['nonsense', undefined],
    [undefined, undefined],
  ])('reads the mode %s', (text, mode) => {
    expect(parseModeText(text)).toBe(mode);
  });
});

describe('one file', () => {
  test('arrives whole, with mode and time, in writes of WRITE_CHUNK_BYTES and reads of LOCAL_CHUNK_BYTES', async () => {
    const given = await source();
    await chmod(given.source, 0o750);
    await utimes(given.source, 1_000_000, 1_234_567);
    const facts = await localSide.stat(given.source);
    const writes: number[] = [];
    const to: CopySide = {
      ...localSide,
      append: async (path, bytes, signal) => {
        writes.push(bytes.length);
        await localSide.append(path, bytes, signal);
      },
    };
    const done = await copy({ ...given, facts: facts ?? given.facts }, to);
    expect(done).toMatchObject({ bytes: BIG.length, resumedAt: 0, attributesKept: true });
    expect(done.sha256).toBe(createHash('sha256').update(BIG).digest('hex'));
    expect((await readFile(given.goal)).equals(BIG)).toBe(true);
    const found = await lstat(given.goal);
    expect([found.mode & 0o777, Math.floor(found.mtimeMs)]).toEqual([0o750, 1_234_567_000]);
    expect(Math.max(...writes)).toBe(WRITE_CHUNK_BYTES);
    for await (const chunk of localSide.read(given.source, 0, signal))
      expect(chunk.length).toBeLessThanOrEqual(LOCAL_CHUNK_BYTES);
    expect((await readdir(folder)).sort()).toEqual(['goal', 'source']);
  });

  test('has the time it was given to the millisecond, whenever that was', async () => {
    const { source: path } = await source(Buffer.alloc(1));
    const year2100 = 4_102_444_800_000;
    const times = fc.oneof(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: year2100 }));
    await fc.assert(
      fc.asyncProperty(times, async (mtimeMs) => {
        await localSide.setAttributes(path, { mode: 0o640, mtimeMs });
        expect((await localSide.stat(path))?.mtimeMs).toBe(mtimeMs);
      }),
      { numRuns: 100 },
    );
  });

  test('of no bytes is a file of no bytes', async () => {
    const given = await source(Buffer.alloc(0));
    await copy(given);
    expect(await readFile(given.goal, 'utf8')).toBe('');
  });

  test('that was cut goes on where it stopped, at every kind of place', async () => {
    for (const at of [1, 1000, TAIL_BYTES, TAIL_BYTES + 1, WRITE_CHUNK_BYTES, BIG.length - 1, BIG.length]) {
      const given = await source();
      await writeFile(partOf(given), BIG.subarray(0, at));
      expect(await copy(given), String(at)).toMatchObject({ resumedAt: at });
      expect((await readFile(given.goal)).equals(BIG)).toBe(true);
    }
  });

  test('whose part is another text, or longer, is begun anew', async () => {
    const given = await source();
    await writeFile(partOf(given), Buffer.alloc(5000, 'z'));
    expect(await copy(given)).toMatchObject({ resumedAt: 0 });
    await writeFile(partOf(given), Buffer.alloc(BIG.length + 1, 'z'));
    expect(await copy(given)).toMatchObject({ resumedAt: 0 });
    expect((await readFile(given.goal)).equals(BIG)).toBe(true);
  });

  test('whose part was damaged long before its end is begun anew when the hash shows it', async () => {
    const given = await source();
    const part = Buffer.from(BIG.subarray(0, WRITE_CHUNK_BYTES * 2));
    part[5] = 0;
    await writeFile(partOf(given), part);
    await copy(given);
    expect((await readFile(given.goal)).equals(BIG)).toBe(true);
  });

  test('that fails half-way leaves the goal as it was, and a part that the next copy goes on from', async () => {
    const given = await source();
    await writeFile(given.goal, 'old');
    let writes = 0;
    const full: CopySide = {
      ...localSide,
      append: async (path, bytes, signal) => {
        writes += 1;
        if (writes > 1) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
        await localSide.append(path, bytes, signal);
      },
    };
    await expect(copy(given, full)).rejects.toThrow('full');
    expect(await readFile(given.goal, 'utf8')).toBe('old');
    expect(await copy(given)).toMatchObject({ resumedAt: WRITE_CHUNK_BYTES });
  });

  test('that arrives damaged never gets its name', async () => {
    const given = await source();
    const lossy: CopySide = {
      ...localSide,
      append: async (path, bytes, signal) => await localSide.append(path, Buffer.alloc(bytes.length), signal),
    };
    await expect(copy(given, lossy)).rejects.toMatchObject({ code: 'damaged' });
    expect(await readdir(folder)).toEqual(['source']);
  });

  test('that changes while it is copied is told of', async () => {
    const given = await source();
    await truncate(given.source, 100);
    await expect(copy(given)).rejects.toMatchObject({ code: 'changed' });
  });

  test('has the parts of older versions of its source removed', async () => {
    const given = await source();
    const old = join(folder, partName('goal', { place: given.source, size: 1, mtimeMs: 1 }));
    await writeFile(old, 'x');
    await copy(given);
    expect((await readdir(folder)).sort()).toEqual(['goal', 'source']);
  });
});

describe('a remote file', () => {
  /** A server that gives at most `limit` bytes per answer. */
  function serverOf(bytes: Buffer, limit = Number.MAX_SAFE_INTEGER) {
    const seen = { most: 0, running: 0, largest: 0 };
    const request = async (_method: string, { offset, length }: { offset: number; length: number }) => {
      seen.most = Math.max(seen.most, (seen.running += 1));
      seen.largest = Math.max(seen.largest, length);
      await new Promise((resolve) => setImmediate(resolve));
      seen.running -= 1;
      const part = bytes.subarray(offset, offset + Math.min(length, limit));
      return { path: '/f', size: bytes.length, mtime: 1, content: part.toString('base64') };
    };
    return { seen, client: { session: { limits: {} }, request } as unknown as RexClient };
  }

  async function all(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const bytes of chunks) parts.push(bytes);
    return Buffer.concat(parts);
  }

  test('is read in order with at most MAX_READS_AHEAD on their way, READ_CHUNK_BYTES each', async () => {
    const { client, seen } = serverOf(BIG);
    const { chunks, facts } = await openRemoteFile(client, '/f');
    expect((await all(chunks)).equals(BIG)).toBe(true);
    expect(facts.size).toBe(BIG.length);
    expect(seen).toMatchObject({ most: MAX_READS_AHEAD, largest: READ_CHUNK_BYTES });
  });

  test('is whole whatever part was asked for and however little the server gives', async () => {
    const text = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(1100),
        fc.nat(1100),
        fc.integer({ min: 1, max: 300 }),
        async (from, length, limit) => {
          const { client } = serverOf(text, limit);
          const { chunks } = await openRemoteFile(client, '/f', { offset: from, end: from + length });
          expect((await all(chunks)).equals(text.subarray(from, from + length))).toBe(true);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('in a folder of more than MAX_FOLDER_ENTRIES is not copied by halves', async () => {
    const asked: unknown[] = [];
    const request = async (_method: string, params: unknown) => {
      asked.push(params);
      return { path: '/d', entries: [], truncated: true };
    };
    const side = remoteSide({ session: { limits: {} }, request } as unknown as RexClient, 'web:');
    await expect(side.list('/d')).rejects.toThrow('entries in one folder');
    expect(asked).toEqual([{ path: '/d', max_entries: MAX_FOLDER_ENTRIES }]);
  });
});
