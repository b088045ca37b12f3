import type * as NodeFs from 'node:fs';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { writeFile } from '../../../../src/host/files/write.js';
import { makeSandbox } from './sandbox.js';

/** The system as it can be but is not here: what a call does instead, and what was called. */
const system = vi.hoisted(() => ({
  calls: [] as string[],
  link: undefined as (() => void) | undefined,
  maxWrite: Number.POSITIVE_INFINITY,
}));

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof NodeFs>();
  return {
    ...real,
    linkSync: (from: string, to: string): void => {
      system.link?.();
      real.linkSync(from, to);
    },
    renameSync: (from: string, to: string): void => {
      system.calls.push('rename');
      real.renameSync(from, to);
    },
    writeSync: (fd: number, data: Uint8Array, at: number, length: number): number => {
      system.calls.push('write');
      return real.writeSync(fd, data, at, Math.min(length, system.maxWrite));
    },
    fsync: (fd: number, done: (error: Error | null) => void): void => {
      system.calls.push(real.fstatSync(fd).isDirectory() ? 'sync directory' : 'sync file');
      real.fsync(fd, done);
    },
  };
});

afterEach(() => {
  system.calls.length = 0;
  system.link = undefined;
  system.maxWrite = Number.POSITIVE_INFINITY;
});

const data = Buffer.from('0123456789');

describe('the order of calls', () => {
  test('content reaches the disk before the name does, and the name before the promise resolves', async () => {
    using box = makeSandbox();
    await writeFile(box.set, box.at('file'), data);
    expect(system.calls).toEqual(['write', 'sync file', 'rename', 'sync directory']);
  });

  test('directories made for it are synced as well', async () => {
    using box = makeSandbox();
    await writeFile(box.set, box.at('a/b/file'), data, { mkdirParents: true });
    expect(system.calls.slice(-4)).toEqual(['rename', 'sync directory', 'sync directory', 'sync directory']);
  });

  test('an append syncs the directory only for a new file', async () => {
    using box = makeSandbox();
    await writeFile(box.set, box.at('log'), data, { mode: 'append' });
    await writeFile(box.set, box.at('log'), data, { mode: 'append' });
    expect(system.calls).toEqual(['write', 'sync file', 'sync directory', 'write', 'sync file']);
  });

  test('what need not be durable is not synced', async () => {
    using box = makeSandbox();
    await writeFile(box.set, box.at('a/file'), data, { mkdirParents: true, durable: false });
    await writeFile(box.set, box.at('a/file'), data, { mode: 'append', durable: false });
    expect(system.calls).toEqual(['write', 'rename', 'write']);
  });
});

test('a system that writes three bytes at a time writes all of them in the end', async () => {
  using box = makeSandbox();
  system.maxWrite = 3;
  await writeFile(box.set, box.at('file'), data);
  await writeFile(box.set, box.at('file'), data, { mode: 'append' });
  expect(readFileSync(box.at('file'), 'utf8')).toBe('01234567890123456789');
});

describe('a file system without hard links', () => {
  const refuse = (): never => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
  };

  test('still creates only what is not there', async () => {
    using box = makeSandbox();
    system.link = refuse;
    await writeFile(box.set, box.at('file'), data, { mode: 'create' });
    expect(readFileSync(box.at('file'), 'utf8')).toBe('0123456789');
    expect(statSync(box.at('file')).mode & 0o600).toBe(0o600);
    await expect(writeFile(box.set, box.at('file'), data, { mode: 'create' })).rejects.toMatchObject({
      code: 'already_exists',
    });
    expect(readdirSync(box.root)).toEqual(['file']);
  });

  test('of many that create at once one succeeds', async () => {
    using box = makeSandbox();
    system.link = refuse;
    const attempts = Array.from({ length: 10 }, () =>
      writeFile(box.set, box.at('file'), data, { mode: 'create' }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('readers see the old content or the new, never a part', async () => {
  using box = makeSandbox();
  const size = 3 * 1024 * 1024;
  await writeFile(box.set, box.at('file'), Buffer.alloc(size, '-'), { durable: false });
  let writing = true;
  const writers = Promise.all(
    ['a', 'b', 'c', 'd'].map((fill) =>
      writeFile(box.set, box.at('file'), Buffer.alloc(size, fill), { durable: false }),
    ),
  ).finally(() => (writing = false));
  const seen = new Set<string>();
  for (const isWriting = (): boolean => writing; isWriting(); ) {
    const text = readFileSync(box.at('file'), 'latin1');
    seen.add(text === text.charAt(0).repeat(size) ? 'whole' : 'part');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writers;
  expect([...seen]).toEqual(['whole']);
});
