import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  AlreadyExistsError,
  ConflictError,
  FileSystemError,
  ForbiddenPathError,
  LinkLoopError,
  NotADirectoryError,
  NotAFileError,
  NotFoundError,
  TooLargeError,
} from '../../../../src/host/files/errors.js';
import { InvalidPathError } from '../../../../src/host/files/path-errors.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { MAX_WRITE_BYTES, writeFile } from '../../../../src/host/files/write.js';
import { makeSandbox, run, SECRET, snapshot } from './sandbox.js';

const text = (content: string): Uint8Array => Buffer.from(content);
const isRoot = process.getuid?.() === 0;

describe.each([{ atomic: true }, { atomic: false }])('writing with %o', ({ atomic }) => {
  test('replaces or creates, and tells which', async () => {
    using box = makeSandbox();
    const path = box.at('file');
    const first = await writeFile(box.set, path, text('one'), { atomic });
    expect(first).toMatchObject({ path, bytesWritten: 3, size: 3, created: true });
    const second = await writeFile(box.set, path, text('three'), { atomic });
    expect(second).toMatchObject({ bytesWritten: 5, size: 5, created: false });
    expect(readFileSync(path, 'utf8')).toBe('three');
    expect(Math.floor(statSync(path).mtimeMs)).toBe(second.mtimeMs);
    expect(readdirSync(box.root)).toEqual(['file']);
  });

  test('keeps the mode of a file that was there and gives a new one what the umask leaves', async () => {
    using box = makeSandbox();
    for (const mode of [0o600, 0o755, 0o444, 0o4711]) {
      chmodSync(box.file('old', 'x'), mode);
      await writeFile(box.set, box.at('old'), text('y'), { atomic });
      // Writing into a file clears its set-id bits, unless the writer is allowed to set them.
      expect(statSync(box.at('old')).mode & 0o777).toBe(mode & 0o777);
    }
    const umask = process.umask(0o027);
    try {
      await writeFile(box.set, box.at('new'), text(''), { atomic });
      await writeFile(box.set, box.at('exact'), text(''), { atomic, permissions: 0o666 });
    } finally {
      process.umask(umask);
    }
    expect(statSync(box.at('new')).mode & 0o7777).toBe(0o640);
    expect(statSync(box.at('exact')).mode & 0o7777).toBe(0o666);
  });

  test.runIf(isRoot)('keeps the owner of a file that was there', async () => {
    using box = makeSandbox();
    const path = box.file('theirs', 'x');
    chownSync(path, 12_345, 54_321);
    chmodSync(path, 0o6755);
    await writeFile(box.set, path, text('y'), { atomic });
    expect(statSync(path)).toMatchObject({ uid: 12_345, gid: 54_321 });
    expect(statSync(path).mode & 0o7777).toBe(0o6755);
  });

  test('create fails on whatever is there, and follows no link', async () => {
    using box = makeSandbox();
    box.file('file', 'old');
    symlinkSync('target', box.at('dangling'));
    symlinkSync(join(box.outside, 'new'), box.at('out'));
    mkdirSync(box.at('dir'));
    for (const name of ['file', 'dangling', 'out', 'dir']) {
      const attempt = writeFile(box.set, box.at(name), text('x'), { mode: 'create', atomic });
      await expect(attempt).rejects.toThrow(AlreadyExistsError);
    }
    expect(readFileSync(box.at('file'), 'utf8')).toBe('old');
    expect(existsSync(box.at('target'))).toBe(false);
    expect((await writeFile(box.set, box.at('new'), text('x'), { mode: 'create', atomic })).created).toBe(
      true,
    );
    expect(statSync(box.at('new')).nlink).toBe(1);
  });

  test('of many that create at once one succeeds', async () => {
    using box = makeSandbox();
    const attempts = Array.from({ length: 20 }, (_, i) =>
      writeFile(box.set, box.at('file'), text(`writer ${i}`), { mode: 'create', atomic }),
    );
    const outcomes = await Promise.allSettled(attempts);
    const winners = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
    expect(winners).toHaveLength(1);
    expect(readFileSync(box.at('file'), 'utf8')).toBe(`writer ${winners[0]}`);
  });

  test('goes through a link to its target inside, and the link stays', async () => {
    using box = makeSandbox();
    box.file('a/real', 'old');
    symlinkSync('a/real', box.at('link'));
    symlinkSync('link', box.at('chain'));
    symlinkSync('a/new', box.at('dangling'));
    await writeFile(box.set, box.at('chain'), text('new'), { atomic });
    await writeFile(box.set, box.at('dangling'), text('new'), { atomic });
    expect(readFileSync(box.at('a/real'), 'utf8')).toBe('new');
    expect(readFileSync(box.at('a/new'), 'utf8')).toBe('new');
    expect(readlinkSync(box.at('link'))).toBe('a/real');
  });

  test('goes through a link that stands outside and leads inside, as a read does', async () => {
    using box = makeSandbox();
    writeFileSync(box.at('file'), 'old');
    const link = join(box.outside, 'way-in');
    symlinkSync(box.at('file'), link);
    await writeFile(box.set, link, text('new'), { atomic });
    expect(readFileSync(box.at('file'), 'utf8')).toBe('new');
    expect(readlinkSync(link)).toBe(box.at('file'));
  });

  test('writes nothing outside, whatever link is in the way', async () => {
    using box = makeSandbox();
    symlinkSync(join(box.outside, 'secret.txt'), box.at('file'));
    symlinkSync(join(box.outside, 'new'), box.at('dangling'));
    symlinkSync(box.outside, box.at('dir'));
    symlinkSync('/proc/self/root', box.at('top'));
    const before = snapshot(box.outside);
    for (const path of [
      'file',
      'dangling',
      'dir',
      'dir/new',
      'dir/secret.txt',
      'dir/a/b',
      `top${box.outside}/new`,
      '../outside/new',
      '../new',
    ]) {
      const attempt = writeFile(box.set, `${box.root}/${path}`, text('x'), { atomic, mkdirParents: true });
      await expect(attempt).rejects.toThrow(ForbiddenPathError);
    }
    expect(snapshot(box.outside)).toEqual(before);
    expect(readdirSync(box.base).sort()).toEqual(['outside', 'root']);
  });

  test('refuses the root itself, directories, FIFOs and names that cannot be', async () => {
    using box = makeSandbox();
    mkdirSync(box.at('dir'));
    run('mkfifo', box.at('fifo'));
    symlinkSync('dir/.', box.at('dot'));
    box.file('file');
    const write = (path: string): Promise<unknown> => writeFile(box.set, path, text('x'), { atomic });
    await expect(write(box.root)).rejects.toMatchObject({ name: 'ForbiddenPathError', reason: 'root' });
    await expect(write(box.at('dir'))).rejects.toThrow(NotAFileError);
    await expect(write(box.at('dot'))).rejects.toThrow(NotAFileError);
    await expect(write(box.at('fifo'))).rejects.toThrow(NotAFileError);
    await expect(write(box.at('file/below'))).rejects.toThrow(NotADirectoryError);
    await expect(write(box.at('missing/file'))).rejects.toThrow(NotFoundError);
    await expect(write(box.at('x'.repeat(256)))).rejects.toThrow(InvalidPathError);
  });

  test('links that lead round in a circle are told as such', async () => {
    using box = makeSandbox();
    symlinkSync('b', box.at('a'));
    symlinkSync('a', box.at('b'));
    await expect(writeFile(box.set, box.at('a'), text('x'), { atomic })).rejects.toThrow(LinkLoopError);
    await expect(writeFile(box.set, box.at('a/x'), text('x'), { atomic })).rejects.toThrow(LinkLoopError);
  });

  test('a name of 255 bytes can be written', async () => {
    using box = makeSandbox();
    const path = box.at('é'.repeat(127) + 'x');
    await writeFile(box.set, path, text('1'), { atomic });
    await writeFile(box.set, path, text('2'), { atomic });
    expect(readFileSync(path, 'utf8')).toBe('2');
  });

  test('makes missing parents only when asked to', async () => {
    using box = makeSandbox();
    await writeFile(box.set, box.at('a/b/c/file'), text('x'), { mkdirParents: true, atomic });
    expect(readFileSync(box.at('a/b/c/file'), 'utf8')).toBe('x');
    await expect(writeFile(box.set, box.at('d/file'), text('x'), { atomic })).rejects.toThrow(NotFoundError);
    expect(existsSync(box.at('d'))).toBe(false);
  });

  test('expected time and content decide, and a missing file is a conflict', async () => {
    using box = makeSandbox();
    const path = box.file('file', 'seen');
    const mtimeMs = Math.floor(statSync(path).mtimeMs);
    const sha256 = createHash('sha256').update('seen').digest('hex');
    const write = (expect: object, at = path): Promise<unknown> =>
      writeFile(box.set, at, text('seen'), { expect, atomic });
    await expect(write({ mtimeMs: mtimeMs - 1 })).rejects.toMatchObject({
      name: 'ConflictError',
      current: { mtimeMs, size: 4, sha256 },
    });
    await expect(write({ sha256: 'f'.repeat(64) })).rejects.toThrow(ConflictError);
    await expect(write({ mtimeMs }, box.at('missing'))).rejects.toMatchObject({ current: undefined });
    await expect(write({ sha256 }, box.at('missing'))).rejects.toThrow(ConflictError);
    await write({ mtimeMs, sha256: sha256.toUpperCase() });
    await expect(write({ mtimeMs, sha256 })).rejects.toThrow(ConflictError);
    await write({ sha256 });
    await write({});
    expect(readdirSync(box.root)).toEqual(['file']);
  });

  test('each write moves the time on by a millisecond at least', async () => {
    using box = makeSandbox();
    const times = new Set<number>();
    for (let i = 0; i < 50; i++) {
      times.add((await writeFile(box.set, box.at('file'), text('x'), { atomic, durable: false })).mtimeMs);
    }
    expect(times.size).toBe(50);
  });

  test('of writers that expect the same one succeeds', async () => {
    using box = makeSandbox();
    const path = box.file('file', 'seen');
    const expectation = { mtimeMs: Math.floor(statSync(path).mtimeMs) };
    const attempts = Array.from({ length: 10 }, (_, i) =>
      writeFile(box.set, path, text(`${i}`), { expect: expectation, atomic }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('an atomic write', () => {
  test('leaves other names of the old file alone', async () => {
    using box = makeSandbox({ hardLinks: 'refuse' });
    linkSync(join(box.outside, 'secret.txt'), box.at('linked'));
    await writeFile(box.set, box.at('linked'), text('new'));
    expect(readFileSync(join(box.outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect(readFileSync(box.at('linked'), 'utf8')).toBe('new');
  });

  test('leaves no trace when it is given up or cannot be finished', async () => {
    using box = makeSandbox();
    box.file('file', 'old');
    const leaving = new AbortController();
    const attempt = writeFile(box.set, box.at('file'), text('new'), { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(attempt).rejects.toThrow('left');
    expect(readFileSync(box.at('file'), 'utf8')).toBe('old');
    expect(readdirSync(box.root)).toEqual(['file']);
    await expect(writeFile(box.set, box.at('file'), text('x'), { signal: leaving.signal })).rejects.toThrow(
      'left',
    );
  });

  test('refuses a directory that was carried out of the roots while it waited', async () => {
    using box = makeSandbox();
    mkdirSync(box.at('dir'));
    const attempt = writeFile(box.set, box.at('dir/file'), text('x')); // is at its first fsync when this returns
    run('mv', box.at('dir'), join(box.outside, 'moved'));
    await expect(attempt).rejects.toThrow(ForbiddenPathError);
    expect(readdirSync(join(box.outside, 'moved'))).toEqual([]);
  });

  test('is a conflict when a link has taken the place of the file meanwhile', async () => {
    using box = makeSandbox();
    box.file('file', 'old');
    const attempt = writeFile(box.set, box.at('file'), text('x'));
    run('ln', '-sfn', join(box.outside, 'secret.txt'), box.at('file'));
    await expect(attempt).rejects.toThrow(ConflictError);
    expect(lstatSync(box.at('file')).isSymbolicLink()).toBe(true);
  });

  test('takes the look of the file that is there at the end', async () => {
    using box = makeSandbox();
    const attempt = writeFile(box.set, box.at('file'), text('mine'));
    writeFileSync(box.at('file'), 'theirs', { mode: 0o600 });
    expect((await attempt).created).toBe(false);
    expect(statSync(box.at('file')).mode & 0o777).toBe(0o600);
  });
});

describe('appending', () => {
  test('adds to the end, or begins the file', async () => {
    using box = makeSandbox();
    const append = (content: string): Promise<{ size: number; created: boolean }> =>
      writeFile(box.set, box.at('log'), text(content), { mode: 'append' });
    expect(await append('one,')).toMatchObject({ size: 4, created: true, bytesWritten: 4 });
    expect(await append('two')).toMatchObject({ size: 7, created: false, bytesWritten: 3 });
    expect(readFileSync(box.at('log'), 'utf8')).toBe('one,two');
  });

  test('of many at once all arrive whole', async () => {
    using box = makeSandbox();
    const lines = Array.from({ length: 50 }, (_, i) => `${String(i).padStart(4, '0')}${'x'.repeat(1000)}\n`);
    await Promise.all(lines.map((line) => writeFile(box.set, box.at('log'), text(line), { mode: 'append' })));
    const written = readFileSync(box.at('log'), 'utf8').trimEnd().split('\n');
    expect(written.map((line) => `${line}\n`).sort()).toEqual(lines);
  });

  test('creates nothing through a link that leads out', async () => {
    using box = makeSandbox();
    symlinkSync(join(box.outside, 'new'), box.at('log'));
    await expect(writeFile(box.set, box.at('log'), text('x'), { mode: 'append' })).rejects.toThrow(
      ForbiddenPathError,
    );
    expect(existsSync(join(box.outside, 'new'))).toBe(false);
  });

  test('does not touch a file with other names when those are refused', async () => {
    using box = makeSandbox({ hardLinks: 'refuse' });
    linkSync(join(box.outside, 'secret.txt'), box.at('linked'));
    for (const options of [{ mode: 'append' as const }, { atomic: false }]) {
      await expect(writeFile(box.set, box.at('linked'), text('x'), options)).rejects.toMatchObject({
        reason: 'hard_link',
      });
    }
    expect(readFileSync(box.at('linked'), 'utf8')).toBe(SECRET);
    await writeFile(new RootSet([box.root]), box.at('linked'), text('!'), { mode: 'append' });
    expect(readFileSync(box.at('linked'), 'utf8')).toBe(`${SECRET}!`);
  });
});

describe('sizes', () => {
  test('a write over the cap is refused before anything happens', async () => {
    using box = makeSandbox();
    await expect(writeFile(box.set, box.at('file'), Buffer.alloc(MAX_WRITE_BYTES + 1))).rejects.toThrow(
      TooLargeError,
    );
    await expect(writeFile(box.set, box.at('file'), text('123'), { maxBytes: 2 })).rejects.toThrow(
      TooLargeError,
    );
    expect(readdirSync(box.root)).toEqual([]);
  });

  test('many megabytes arrive whole, and their content can be expected', async () => {
    using box = makeSandbox();
    const data = Buffer.alloc(20 * 1024 * 1024, 'abcdefg');
    await writeFile(box.set, box.at('file'), data, { durable: false });
    expect(readFileSync(box.at('file')).equals(data)).toBe(true);
    const sha256 = createHash('sha256').update(data).digest('hex');
    await writeFile(box.set, box.at('file'), text('small'), { expect: { sha256 }, durable: false });
    expect(readFileSync(box.at('file'), 'utf8')).toBe('small');
  });

  test('a full disk is told as such and leaves nothing', async (context) => {
    using box = makeSandbox();
    mkdirSync(box.at('small'));
    const mounted = run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', box.at('small'));
    if (mounted !== 0) context.skip('no right to mount here');
    try {
      for (const options of [{}, { atomic: false }, { mode: 'append' as const }]) {
        const attempt = writeFile(box.set, box.at('small/file'), Buffer.alloc(200_000), options);
        const error: unknown = await attempt.catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(FileSystemError);
        expect(error).toMatchObject({ errno: 'ENOSPC' });
        expect(readdirSync(box.at('small'))).toEqual([]);
      }
    } finally {
      run('umount', box.at('small'));
    }
  });

  test('an old file’s time that equals the new one is told apart', async () => {
    using box = makeSandbox();
    const path = box.file('file', 'x');
    const soon = Math.floor(Date.now() / 1000) + 1000;
    utimesSync(path, soon, soon);
    const result = await writeFile(box.set, path, text('y'), { expect: { mtimeMs: soon * 1000 } });
    expect(result.mtimeMs).not.toBe(soon * 1000);
  });
});
