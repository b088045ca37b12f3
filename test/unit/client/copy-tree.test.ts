// Copies of trees, with everything odd in them.

import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { localSide } from '../../../src/client/rex/copy-local.js';
import { CopyError, type CopySide, type EntryFacts } from '../../../src/client/rex/copy-side.js';
import {
  MAX_COPY_DEPTH,
  MAX_COPY_ENTRIES,
  MAX_KEPT_FAILURES,
  MAX_PARALLEL_FILES,
  planCopy,
  resolveGoal,
  runCopy,
} from '../../../src/client/rex/copy-tree.js';

const signal = new AbortController().signal;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a tree', () => {
  const tree = (source: string, goal: string, more: object = {}) => ({
    from: localSide,
    source,
    to: localSide,
    goal,
    recursive: true,
    follow: false,
    signal,
    ...more,
  });

  test('comes over with odd names, empty files, links and modes', async () => {
    const from = join(folder, 'from');
    await mkdir(join(from, 'sub dir/ünï'), { recursive: true });
    for (const name of ['new\nline', '-dash', "quo'te", 'a:b', '🙂', '.hidden', ' '])
      await writeFile(join(from, name), name);
    await writeFile(join(from, 'sub dir/ünï/empty'), '');
    await chmod(join(from, 'sub dir'), 0o750);
    await symlink('../nowhere', join(from, 'broken'));
    await symlink('sub dir', join(from, 'linked'));
    const options = tree(from, join(folder, 'to'));
    const summary = await runCopy(await planCopy(options), options);
    expect(summary).toMatchObject({ files: 8, folders: 3, links: 2, failed: 0 });
    expect((await readdir(join(folder, 'to'))).sort()).toEqual((await readdir(from)).sort());
    expect(await readFile(join(folder, 'to/new\nline'), 'utf8')).toBe('new\nline');
    expect(await readlink(join(folder, 'to/broken'))).toBe('../nowhere');
    expect((await lstat(join(folder, 'to/sub dir'))).mode & 0o777).toBe(0o750);
    const again = tree(from, join(folder, 'followed'), { follow: true });
    await runCopy(await planCopy(again), again);
    expect((await lstat(join(folder, 'followed/linked'))).isDirectory()).toBe(true);
  });

  test('without -r is refused, as is nothing, and a device', async () => {
    await expect(planCopy(tree(folder, 'x', { recursive: false }))).rejects.toThrow(
      'is a folder; copy it with -r',
    );
    await expect(planCopy(tree(join(folder, 'none'), 'x'))).rejects.toThrow('no such file or directory');
    await expect(planCopy(tree('/dev/null', 'x'))).rejects.toThrow('neither a file nor a folder');
  });

  test('never goes through a link that is in the place of a folder', async () => {
    const outside = join(folder, 'outside');
    await mkdir(outside);
    await mkdir(join(folder, 'from/sub'), { recursive: true });
    await writeFile(join(folder, 'from/sub/file'), 'x');
    await mkdir(join(folder, 'to'));
    await symlink(outside, join(folder, 'to/sub'));
    const options = tree(join(folder, 'from'), join(folder, 'to'));
    const summary = await runCopy(await planCopy(options), options);
    expect(summary.failures.join()).toContain('is in the way: it is no folder');
    expect(await readdir(outside)).toEqual([]);
  });

  test('whose listing names something outside is refused', async () => {
    for (const name of ['..', '.', '', 'a/b', '../x', 'nul\0']) {
      const lying: CopySide = { ...localSide, list: async () => [name] };
      await expect(planCopy(tree(folder, 'x', { from: lying })), JSON.stringify(name)).rejects.toThrow(
        'has an entry named',
      );
    }
  });

  const FILE: EntryFacts = { type: 'file', size: 1, mtimeMs: 0, mode: 0o644 };
  const DIR: EntryFacts = { ...FILE, type: 'dir' };
  /** One folder at `/`, with files of these names. */
  const folderOf = (names: string[]): CopySide => ({
    ...localSide,
    list: async () => names,
    stat: async (path) => (path === '/' ? DIR : FILE),
  });

  test('of more than MAX_COPY_ENTRIES, or deeper than MAX_COPY_DEPTH, is refused', async () => {
    const names = Array.from({ length: MAX_COPY_ENTRIES + 1 }, (_, i) => `n${i}`);
    await expect(planCopy(tree('/', 'x', { from: folderOf(names) }))).rejects.toThrow(
      `more than ${MAX_COPY_ENTRIES} entries`,
    );
    const deep: CopySide = { ...localSide, list: async () => ['d'], stat: async () => DIR };
    await expect(planCopy(tree('/', 'x', { from: deep }))).rejects.toThrow(
      `more than ${MAX_COPY_DEPTH} folders deep`,
    );
  });

  test('tells of MAX_KEPT_FAILURES and counts the rest, with no more than MAX_PARALLEL_FILES at once', async () => {
    const names = Array.from({ length: MAX_KEPT_FAILURES + 5 }, (_, i) => `n${i}`);
    let running = 0;
    let most = 0;
    const to: CopySide = {
      ...localSide,
      makeFolder: async () => false,
      stat: async (path) => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        throw new CopyError('refused', path, 'no');
      },
    };
    const options = tree('/', '/x', { from: folderOf(names), to });
    const summary = await runCopy(await planCopy(options), options);
    expect(summary).toMatchObject({ failed: names.length, files: 0 });
    expect(summary.failures).toHaveLength(MAX_KEPT_FAILURES);
    expect(most).toBe(MAX_PARALLEL_FILES);
  });

  test('ends at a full disk instead of trying every file', async () => {
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    let tried = 0;
    const to: CopySide = {
      ...localSide,
      makeFolder: async () => true,
      stat: async () => {
        tried += 1;
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      },
    };
    const options = tree('/', '/x', { from: folderOf(names), to });
    await expect(runCopy(await planCopy(options), options)).rejects.toThrow('the disk is full');
    expect(tried).toBeLessThanOrEqual(MAX_PARALLEL_FILES);
  });

  test('goes into a folder that is there, and to a name that is not', async () => {
    expect(await resolveGoal(localSide, folder, 'a', false)).toBe(join(folder, 'a'));
    expect(await resolveGoal(localSide, `${folder}/`, undefined, false)).toBe(folder);
    expect(await resolveGoal(localSide, join(folder, 'new'), 'a', false)).toBe(join(folder, 'new'));
    await expect(resolveGoal(localSide, join(folder, 'new/'), 'a', false)).rejects.toThrow('make it first');
    await expect(resolveGoal(localSide, join(folder, 'new'), 'a', true)).rejects.toThrow('need a folder');
  });
});
