import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AccessDeniedError,
  ForbiddenPathError,
  InvalidRangeError,
  NotAFileError,
  NotFoundError,
  TooLargeError,
} from '../../../../src/host/files/errors.js';
import { InvalidPathError } from '../../../../src/host/files/path-errors.js';
import { MAX_READ_BYTES, READ_SLICE_BYTES, readFile } from '../../../../src/host/files/read.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { asNobody, makeSandbox, run } from './sandbox.js';

describe('reading', () => {
  test('gives the whole file and its facts', async () => {
    using box = makeSandbox();
    const path = box.file('a/file', 'héllo\0world');
    chmodSync(path, 0o640);
    const result = await readFile(box.set, path);
    expect(result.data).toEqual(readFileSync(path));
    expect(result).toMatchObject({ path, size: 12, truncated: false });
    expect(result.mode & 0o777).toBe(0o640);
    expect(Number.isInteger(result.mtimeMs)).toBe(true);
  });

  test('gives any range of bytes, and says whether more follow', async () => {
    using box = makeSandbox();
    const content = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));
    const path = box.file('file', content);
    await fc.assert(
      fc.asyncProperty(fc.nat(400), fc.nat(400), async (offset, length) => {
        const result = await readFile(box.set, path, { offset, length });
        expect(result.data).toEqual(content.subarray(offset, offset + length));
        expect(result.truncated).toBe(offset + length < 300 && offset < 300);
      }),
      { numRuns: 200 },
    );
  });

  test.each([-1, 1.5, Number.NaN, Infinity])('refuses %s as a count of bytes', async (value) => {
    using box = makeSandbox();
    const path = box.file('file', 'x');
    await expect(readFile(box.set, path, { offset: value })).rejects.toThrow(InvalidRangeError);
    await expect(readFile(box.set, path, { length: value })).rejects.toThrow(InvalidRangeError);
  });

  test('the caller’s cap truncates, or refuses what must be whole', async () => {
    using box = makeSandbox();
    const path = box.file('file', '0123456789');
    const part = await readFile(box.set, path, { maxBytes: 4 });
    expect([part.data.toString(), part.truncated]).toEqual(['0123', true]);
    await expect(readFile(box.set, path, { maxBytes: 9, whole: true })).rejects.toThrow(TooLargeError);
    expect((await readFile(box.set, path, { maxBytes: 10, whole: true })).data).toHaveLength(10);
  });

  test('no caller gets more than the cap of one read', async () => {
    using box = makeSandbox();
    const path = box.file('sparse');
    truncateSync(path, MAX_READ_BYTES + 1);
    const result = await readFile(box.set, path, { maxBytes: MAX_READ_BYTES * 2 });
    expect(result.data).toHaveLength(MAX_READ_BYTES);
    expect(result.truncated).toBe(true);
  });

  test('a large file is read in turns that let others in, and can be given up', async () => {
    using box = makeSandbox();
    const path = box.file('sparse');
    truncateSync(path, MAX_READ_BYTES);
    const leaving = new AbortController();
    setImmediate(() => leaving.abort(new Error('left')));
    await expect(readFile(box.set, path, { signal: leaving.signal })).rejects.toThrow('left');
  });

  test('files of the kernel, which say they are empty, are read to their end', async () => {
    const set = new RootSet(['/']);
    const result = await readFile(set, '/proc/self/status');
    expect(result.data.toString()).toContain('Pid:');
    const long = await readFile(set, '/proc/kallsyms', { length: 100_000 });
    expect(long.data.length).toBe(100_000);
    const cmdline = await readFile(set, '/proc/self/cmdline', { length: 3 });
    expect(cmdline.data).toHaveLength(3);
  });

  test('an empty file is empty', async () => {
    using box = makeSandbox();
    expect((await readFile(box.set, box.file('empty'))).data).toHaveLength(0);
  });

  test('names with line breaks, spaces, quotes and bytes that are not UTF-8 can be read', async () => {
    using box = makeSandbox();
    for (const name of ['a\nb', ' ', '"', '\\', 'ü', '%2e%2e', '~', '-rf', 'x (deleted)']) {
      box.file(name, name);
      expect((await readFile(box.set, `${box.root}/${name}`)).data.toString()).toBe(name);
    }
    writeFileSync(Buffer.concat([Buffer.from(`${box.root}/raw`), Buffer.of(0xff, 0xfe)]), 'raw');
    expect((await readFile(box.set, box.at('raw\udcff\udcfe'))).data.toString()).toBe('raw');
  });
});

describe('what is not a file', () => {
  test('a directory, a FIFO and a socket are refused at once, also behind a link', async () => {
    using box = makeSandbox();
    mkdirSync(box.at('dir'));
    run('mkfifo', box.at('fifo'));
    symlinkSync('fifo', box.at('link'));
    const server = createServer().listen(box.at('socket'));
    await once(server, 'listening');
    for (const [name, type] of [
      ['dir', 'dir'],
      ['fifo', 'other'],
      ['link', 'other'],
      ['socket', 'other'],
    ]) {
      const error = await readFile(box.set, box.at(name ?? '')).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(NotAFileError);
      expect(error).toMatchObject({ type });
    }
    server.close();
    await once(server, 'close');
  });

  test('a FIFO outside is forbidden, without waiting for a writer', async () => {
    using box = makeSandbox();
    run('mkfifo', join(box.outside, 'fifo'));
    symlinkSync(join(box.outside, 'fifo'), box.at('link'));
    await expect(readFile(box.set, box.at('link'))).rejects.toThrow(ForbiddenPathError);
  });

  test('a device is refused', async () => {
    await expect(readFile(new RootSet(['/']), '/dev/zero')).rejects.toThrow(NotAFileError);
  });

  test('missing and impossible names have errors of their own', async () => {
    using box = makeSandbox();
    await expect(readFile(box.set, box.at('missing'))).rejects.toThrow(NotFoundError);
    await expect(readFile(box.set, 'relative')).rejects.toThrow(InvalidPathError);
    await expect(readFile(box.set, box.at('a\0b'))).rejects.toThrow(InvalidPathError);
  });

  test('a file without read permission is denied, as is one in a closed directory', async () => {
    using box = makeSandbox();
    chmodSync(box.file('file'), 0);
    box.file('closed/file');
    await asNobody(box, async () => {
      chmodSync(box.at('closed'), 0);
      await expect(readFile(box.set, box.at('file'))).rejects.toThrow(AccessDeniedError);
      await expect(readFile(box.set, box.at('closed/file'))).rejects.toThrow(AccessDeniedError);
      chmodSync(box.at('closed'), 0o700);
    });
  });
});

describe('hard links', () => {
  test('are read by default and refused on demand', async () => {
    using box = makeSandbox({ hardLinks: 'refuse' });
    linkSync(join(box.outside, 'secret.txt'), box.at('linked'));
    box.file('single', 'one name');
    const error = await readFile(box.set, box.at('linked')).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ForbiddenPathError);
    expect(error).toMatchObject({ reason: 'hard_link' });
    expect((await readFile(box.set, box.at('single'))).data.toString()).toBe('one name');
    expect((await readFile(new RootSet([box.root]), box.at('linked'))).size).toBeGreaterThan(0);
  });
});

test(`after every ${READ_SLICE_BYTES} bytes a read may let others in, and a caller may leave`, async () => {
  using box = makeSandbox();
  const path = box.file('file');
  truncateSync(path, 60 * READ_SLICE_BYTES);
  const left = new AbortController();
  const read = readFile(box.set, path, { signal: left.signal });
  left.abort(new Error('left'));
  await expect(read).rejects.toThrow('left');
});
