import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copyPath, MAX_COPY_ENTRIES } from '../../../../src/host/files/copy.js';
import {
  AccessDeniedError,
  AlreadyExistsError,
  ForbiddenPathError,
  NotAFileError,
  NotEmptyError,
  NotFoundError,
  TooLargeError,
} from '../../../../src/host/files/errors.js';
import { InvalidPathError } from '../../../../src/host/files/path-errors.js';
import { makeDirectory } from '../../../../src/host/files/make-directory.js';
import { movePath } from '../../../../src/host/files/move.js';
import { MAX_WALK_LEVELS } from '../../../../src/host/files/read-directory.js';
import { removePath } from '../../../../src/host/files/remove.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { asNobody, makeSandbox, run, type Sandbox, snapshot } from './sandbox.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

/** A tree with a bit of everything. */
function plant(box: Sandbox): void {
  box.file('tree/a/file', 'content');
  chmodSync(box.file('tree/script', '#!'), 0o750);
  symlinkSync('a/file', box.at('tree/inside'));
  symlinkSync(box.outside, box.at('tree/out'));
  mkdirSync(box.at('tree/empty'));
}

describe('making directories', () => {
  test('makes one, or all that are missing', async () => {
    using box = makeSandbox();
    expect(await makeDirectory(box.set, box.at('a'))).toEqual({ path: box.at('a'), created: true });
    await expect(makeDirectory(box.set, box.at('a'))).rejects.toThrow(AlreadyExistsError);
    await expect(makeDirectory(box.set, box.root)).rejects.toThrow(AlreadyExistsError);
    await expect(makeDirectory(box.set, box.at('b/c'))).rejects.toThrow(NotFoundError);
    expect(await makeDirectory(box.set, box.at('b/c/d'), { parents: true })).toMatchObject({ created: true });
    expect(await makeDirectory(box.set, box.at('b/c/d'), { parents: true })).toMatchObject({
      created: false,
    });
    expect(await makeDirectory(box.set, box.root, { parents: true })).toMatchObject({ created: false });
    expect(statSync(box.at('b/c/d')).isDirectory()).toBe(true);
  });

  test('makes none outside', async () => {
    using box = makeSandbox();
    symlinkSync(box.outside, box.at('out'));
    for (const parents of [true, false]) {
      await expect(makeDirectory(box.set, box.at('out/new'), { parents })).rejects.toThrow(
        ForbiddenPathError,
      );
      await expect(makeDirectory(box.set, join(box.base, 'new'), { parents })).rejects.toThrow(
        ForbiddenPathError,
      );
    }
    expect(readdirSync(box.outside).sort()).toEqual(['dir', 'secret.txt']);
  });
});

describe('removing', () => {
  test('removes a file, a link but not its target, an empty directory', async () => {
    using box = makeSandbox();
    box.file('file');
    mkdirSync(box.at('dir'));
    symlinkSync(box.outside, box.at('link'));
    for (const name of ['file', 'dir', 'link']) {
      expect(await removePath(box.set, box.at(name))).toEqual({ path: box.at(name), removed: 1 });
    }
    expect(readdirSync(box.root)).toEqual([]);
    await expect(removePath(box.set, box.at('file'))).rejects.toThrow(NotFoundError);
  });

  test('removes a tree only when asked to, and nothing a link in it leads to', async () => {
    using box = makeSandbox();
    plant(box);
    const before = snapshot(box.outside);
    await expect(removePath(box.set, box.at('tree'))).rejects.toThrow(NotEmptyError);
    expect((await removePath(box.set, box.at('tree'), { recursive: true })).removed).toBe(7);
    expect(readdirSync(box.root)).toEqual([]);
    expect(snapshot(box.outside)).toEqual(before);
  });

  test('keeps its hands off the outside and off roots', async () => {
    using box = makeSandbox();
    mkdirSync(box.at('a/inner'), { recursive: true });
    symlinkSync(box.outside, box.at('out'));
    const set = new RootSet([box.root, box.at('a/inner')]);
    await expect(removePath(set, box.at('out/secret.txt'))).rejects.toThrow(ForbiddenPathError);
    for (const path of [box.root, box.at('a'), box.at('a/inner')]) {
      await expect(removePath(set, path, { recursive: true })).rejects.toMatchObject({ reason: 'root' });
    }
    expect(existsSync(box.at('a/inner'))).toBe(true);
  });

  test('a tree too deep to hold is refused', async () => {
    using box = makeSandbox();
    mkdirSync(box.at(...Array.from({ length: MAX_WALK_LEVELS + 1 }, () => 'd')), { recursive: true });
    await expect(removePath(box.set, box.at('d'), { recursive: true })).rejects.toThrow(TooLargeError);
    await expect(copyPath(box.set, box.at('d'), box.at('e'))).rejects.toThrow(TooLargeError);
    expect(readdirSync(box.root)).toEqual(['d']);
    await removePath(box.set, box.at('d/d/d'), { recursive: true });
    expect(readdirSync(box.at('d/d'))).toEqual([]);
  });
});

describe('copying', () => {
  test('copies a file with its permissions, and replaces one only when asked to', async () => {
    using box = makeSandbox();
    chmodSync(box.file('file', 'content'), 0o4750);
    expect(await copyPath(box.set, box.at('file'), box.at('copy'))).toEqual({
      path: box.at('copy'),
      entries: 1,
      skipped: 0,
    });
    expect(readFileSync(box.at('copy'), 'utf8')).toBe('content');
    expect(statSync(box.at('copy')).mode & 0o7777).toBe(0o750);
    box.file('file', 'newer');
    await expect(copyPath(box.set, box.at('file'), box.at('copy'))).rejects.toThrow(AlreadyExistsError);
    await copyPath(box.set, box.at('file'), box.at('copy'), { overwrite: true });
    expect(readFileSync(box.at('copy'), 'utf8')).toBe('newer');
  });

  test('copies a tree, links as links, and skips what has no content', async () => {
    using box = makeSandbox();
    plant(box);
    run('mkfifo', box.at('tree/fifo'));
    chmodSync(box.at('tree/a'), 0o555);
    await asNobody(box, async () => {
      expect(await copyPath(box.set, box.at('tree'), box.at('copy'))).toMatchObject({
        entries: 7,
        skipped: 1,
      });
      chmodSync(box.at('tree/a'), 0o755);
    });
    expect(readFileSync(box.at('copy/a/file'), 'utf8')).toBe('content');
    expect(statSync(box.at('copy/a')).mode & 0o777).toBe(0o555);
    expect(statSync(box.at('copy/script')).mode & 0o777).toBe(0o750);
    expect(readlinkSync(box.at('copy/inside'))).toBe('a/file');
    expect(readlinkSync(box.at('copy/out'))).toBe(box.outside);
    expect(readdirSync(box.at('copy')).sort()).toEqual(['a', 'empty', 'inside', 'out', 'script']);
    await expect(copyPath(box.set, box.at('tree'), box.at('copy'))).rejects.toThrow(AlreadyExistsError);
  });

  test('copies neither from outside nor to it, nor into itself', async () => {
    using box = makeSandbox();
    plant(box);
    box.file('file');
    const before = snapshot(box.outside);
    await expect(copyPath(box.set, box.at('tree/out/secret.txt'), box.at('x'))).rejects.toThrow(
      ForbiddenPathError,
    );
    await expect(copyPath(box.set, box.at('tree/out'), box.at('x'))).rejects.toThrow(ForbiddenPathError);
    await expect(copyPath(box.set, box.at('file'), box.at('tree/out/x'))).rejects.toThrow(ForbiddenPathError);
    await expect(copyPath(box.set, box.at('tree'), box.at('tree/a/x'))).rejects.toThrow(InvalidPathError);
    await expect(copyPath(box.set, box.at('file'), box.at('file'), { overwrite: true })).rejects.toThrow(
      InvalidPathError,
    );
    await expect(copyPath(box.set, '/dev/null', box.at('x'))).rejects.toThrow(ForbiddenPathError);
    expect(snapshot(box.outside)).toEqual(before);
    expect(existsSync(box.at('x'))).toBe(false);
  });

  test('a tree with more entries than the cap is not copied', async () => {
    using box = makeSandbox();
    plant(box);
    const copy = (maxEntries: number): Promise<unknown> =>
      copyPath(box.set, box.at('tree'), box.at('copy'), { maxEntries });
    await expect(copy(6)).rejects.toThrow(TooLargeError);
    expect(readdirSync(box.root)).toEqual(['tree']);
    expect(await copy(MAX_COPY_ENTRIES + 1)).toMatchObject({ entries: 7 });
  });

  test('a copy that fails half-way is taken back', async () => {
    using box = makeSandbox({ hardLinks: 'refuse' });
    plant(box);
    linkSync(join(box.outside, 'secret.txt'), box.at('tree/z'));
    await expect(copyPath(box.set, box.at('tree'), box.at('copy'))).rejects.toMatchObject({
      reason: 'hard_link',
    });
    expect(readdirSync(box.root)).toEqual(['tree']);
    run('mkfifo', box.at('fifo'));
    await expect(copyPath(box.set, box.at('fifo'), box.at('copy'))).rejects.toThrow(NotAFileError);
    const gone = AbortSignal.abort(new Error('left'));
    await expect(copyPath(box.set, box.at('tree'), box.at('copy'), { signal: gone })).rejects.toThrow('left');
  });
});

describe('moving', () => {
  test('moves files, links and directories to a free name', async () => {
    using box = makeSandbox();
    plant(box);
    await movePath(box.set, box.at('tree/script'), box.at('script'));
    await movePath(box.set, box.at('tree/out'), box.at('out'));
    await movePath(box.set, box.at('tree'), box.at('moved'));
    expect(statSync(box.at('script')).mode & 0o777).toBe(0o750);
    expect(readlinkSync(box.at('out'))).toBe(box.outside);
    expect(readFileSync(box.at('moved/a/file'), 'utf8')).toBe('content');
    expect(readdirSync(box.root).sort()).toEqual(['moved', 'out', 'script']);
  });

  test('takes the place of something else only when asked to', async () => {
    using box = makeSandbox();
    box.file('a', 'a');
    box.file('b', 'b');
    mkdirSync(box.at('dir'));
    box.file('full/x');
    await expect(movePath(box.set, box.at('a'), box.at('b'))).rejects.toThrow(AlreadyExistsError);
    await expect(movePath(box.set, box.at('full'), box.at('dir'))).rejects.toThrow(AlreadyExistsError);
    await expect(movePath(box.set, box.at('a'), box.at('dir'), { overwrite: true })).rejects.toThrow(
      NotAFileError,
    );
    await expect(movePath(box.set, box.at('dir'), box.at('full'), { overwrite: true })).rejects.toThrow(
      NotEmptyError,
    );
    await movePath(box.set, box.at('a'), box.at('b'), { overwrite: true });
    await movePath(box.set, box.at('full'), box.at('dir'), { overwrite: true });
    expect(readFileSync(box.at('b'), 'utf8')).toBe('a');
    expect(readdirSync(box.root).sort()).toEqual(['b', 'dir']);
  });

  test('a move that is denied leaves both sides as they were', async () => {
    using box = makeSandbox();
    box.file('closed/dir/x');
    box.file('closed/file');
    await asNobody(box, async () => {
      chmodSync(box.at('closed'), 0o500);
      for (const name of ['dir', 'file']) {
        await expect(movePath(box.set, box.at('closed', name), box.at('moved'))).rejects.toThrow(
          AccessDeniedError,
        );
      }
      chmodSync(box.at('closed'), 0o700);
    });
    expect(readdirSync(box.root)).toEqual(['closed']);
    expect(readdirSync(box.at('closed')).sort()).toEqual(['dir', 'file']);
  });

  test('moves nothing in, nothing out, no root and nothing into itself', async () => {
    using box = makeSandbox();
    plant(box);
    const before = snapshot(box.outside);
    const move = (from: string, to: string): Promise<unknown> =>
      movePath(box.set, from, to, { overwrite: true });
    await expect(move(box.at('tree/a/file'), join(box.outside, 'x'))).rejects.toThrow(ForbiddenPathError);
    await expect(move(box.at('tree/a/file'), box.at('tree/out/x'))).rejects.toThrow(ForbiddenPathError);
    await expect(move(box.at('tree/out/secret.txt'), box.at('x'))).rejects.toThrow(ForbiddenPathError);
    await expect(move(box.root, box.at('x'))).rejects.toThrow(ForbiddenPathError);
    await expect(move(box.at('tree'), box.at('tree/a/x'))).rejects.toThrow(InvalidPathError);
    await expect(move(box.at('missing'), box.at('x'))).rejects.toThrow(NotFoundError);
    await expect(
      movePath(new RootSet([box.root, box.at('tree/a')]), box.at('tree'), box.at('x')),
    ).rejects.toMatchObject({ reason: 'root' });
    expect(snapshot(box.outside)).toEqual(before);
  });

  test('between file systems it copies and removes', async (context) => {
    if (!existsSync('/dev/shm')) context.skip('no second file system here');
    const other = mkdtempSync('/dev/shm/hawser-files-');
    using box = makeSandbox();
    plant(box);
    try {
      const set = new RootSet([box.root, other]);
      await movePath(set, box.at('tree/script'), join(other, 'script'));
      await movePath(set, box.at('tree/inside'), join(other, 'inside'));
      await movePath(set, box.at('tree'), join(other, 'tree'));
      expect(readdirSync(box.root)).toEqual([]);
      expect(statSync(join(other, 'script')).mode & 0o777).toBe(0o750);
      expect(readlinkSync(join(other, 'inside'))).toBe('a/file');
      expect(readFileSync(join(other, 'tree/a/file'), 'utf8')).toBe('content');
    } finally {
      removeFolder(other);
    }
  });
});
