import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  AccessDeniedError,
  ForbiddenPathError,
  NotADirectoryError,
  NotFoundError,
} from '../../../../src/host/files/errors.js';
import { globPaths, MAX_GLOB_MATCHES } from '../../../../src/host/files/glob.js';
import { listDirectory, MAX_LIST_ENTRIES } from '../../../../src/host/files/list.js';
import { isRawName } from '../../../../src/host/files/names.js';
import { readFile } from '../../../../src/host/files/read.js';
import {
  MAX_DIRECTORY_ENTRIES,
  MAX_WALK_LEVELS,
  readDirectory,
  readNames,
} from '../../../../src/host/files/read-directory.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { Turns } from '../../../../src/host/files/turns.js';
import { pinDirectory } from '../../../../src/host/files/walk.js';
import { asNobody, makeSandbox, run, type Sandbox } from './sandbox.js';

async function paths(
  box: Sandbox,
  options: { recursive?: boolean; maxEntries?: number } = {},
): Promise<string[]> {
  const { entries } = await listDirectory(box.set, box.root, options);
  return entries.map((entry) => entry.path.slice(box.root.length + 1));
}

describe('listing from inside directories', () => {
  /** As a server that has its process for itself. */
  const owning = (box: Sandbox): RootSet => new RootSet(box.set.roots, { ownsWorkingDirectory: true });

  test('gives what it gives otherwise, and leaves the process where it was', async () => {
    using box = makeSandbox();
    for (let i = 0; i < 200; i++) box.file(`many/${i}`, 'x'.repeat(i));
    for (const file of ['a/b/c', 'a/d', 'a/e', '.gitignore', 'z']) box.file(file);
    symlinkSync('a', box.at('link'));
    run('sh', '-c', `cd "$0" && : > "$(printf 'raw-\\377')"`, box.at('many'));
    const before = process.cwd();
    const expected = await listDirectory(box.set, box.root, { recursive: true });
    expect(await listDirectory(owning(box), box.root, { recursive: true })).toEqual(expected);
    expect(expected.entries.length).toBeGreaterThan(200);
    expect(process.cwd()).toBe(before);
  });

  test('what rules leave out between two entries is passed by', async () => {
    using box = makeSandbox();
    for (const file of ['a', 'b', 'c', 'd', 'e']) box.file(file, file);
    box.file('.gitignore', 'b\nd\n');
    const options = { gitignore: true };
    const { entries } = await listDirectory(owning(box), box.root, options);
    expect(entries.map(({ name }) => name)).toEqual(['.gitignore', 'a', 'c', 'e']);
    expect(entries).toEqual((await listDirectory(box.set, box.root, options)).entries);
  });

  test('a directory that may be read and not entered gives names without facts', async () => {
    using box = makeSandbox();
    for (const file of ['shut/a', 'shut/b', 'shut/c']) box.file(file);
    chmodSync(box.at('shut'), 0o444);
    const { entries } = await asNobody(box, () => listDirectory(owning(box), box.at('shut')));
    expect(entries.map(({ name, size }) => [name, size])).toEqual([
      ['a', undefined],
      ['b', undefined],
      ['c', undefined],
    ]);
  });
});

describe('listing', () => {
  test('gives the entries of a directory by name, with their facts', async () => {
    using box = makeSandbox();
    box.file('b', '12');
    box.file('.hidden', '');
    mkdirSync(box.at('a'));
    symlinkSync('nowhere', box.at('c'));
    run('mkfifo', box.at('d'));
    const { entries, truncated, unreadable, path } = await listDirectory(box.set, `${box.root}/`);
    expect([path, truncated, unreadable]).toEqual([box.root, false, 0]);
    expect(entries.map(({ name, type, size }) => [name, type, size])).toEqual([
      ['.hidden', 'file', 0],
      ['a', 'dir', undefined],
      ['b', 'file', 2],
      ['c', 'symlink', 7],
      ['d', 'other', 0],
    ]);
    expect(entries.every(({ mtimeMs }) => Number.isInteger(mtimeMs))).toBe(true);
    expect(entries[2]?.path).toBe(box.at('b'));
  });

  test('goes depth first, and through no link', async () => {
    using box = makeSandbox();
    for (const file of ['a/z', 'a/b/x', 'a-b', 'c/y']) box.file(file);
    symlinkSync('a', box.at('link'));
    symlinkSync('..', box.at('a/up'));
    symlinkSync(box.outside, box.at('out'));
    expect(await paths(box, { recursive: true })).toEqual([
      'a',
      'a/b',
      'a/b/x',
      'a/up',
      'a/z',
      'a-b',
      'c',
      'c/y',
      'link',
      'out',
    ]);
  });

  test('begins through a link that stays inside, and keeps the path it was asked for', async () => {
    using box = makeSandbox();
    box.file('a/b/x');
    symlinkSync('a', box.at('link'));
    const { entries } = await listDirectory(box.set, box.at('link'), { recursive: true });
    expect(entries.map((entry) => entry.path)).toEqual([box.at('link/b'), box.at('link/b/x')]);
  });

  test('what is no directory, not there or outside has an error of its own', async () => {
    using box = makeSandbox();
    box.file('file');
    symlinkSync(box.outside, box.at('out'));
    await expect(listDirectory(box.set, box.at('file'), { recursive: true })).rejects.toThrow(
      NotADirectoryError,
    );
    await expect(listDirectory(box.set, box.at('missing'))).rejects.toThrow(NotFoundError);
    await expect(listDirectory(box.set, box.at('out'))).rejects.toThrow(ForbiddenPathError);
    await expect(listDirectory(box.set, box.base)).rejects.toThrow(ForbiddenPathError);
  });

  test('names that are not UTF-8 can be told and used', async () => {
    using box = makeSandbox();
    const raw = Buffer.concat([Buffer.from(`${box.root}/`), Buffer.from([0x61, 0xff, 0x62])]);
    mkdirSync(raw);
    writeFileSync(Buffer.concat([raw, Buffer.from('/\xe9', 'latin1')]), 'content');
    box.file('\u{FFFD}');
    const { entries } = await listDirectory(box.set, box.root, { recursive: true });
    expect(entries.map((entry) => entry.name)).toEqual(['a\udcffb', '\udce9', '\u{FFFD}']);
    expect(entries.map((entry) => isRawName(entry.name))).toEqual([true, true, false]);
    expect((await readFile(box.set, entries[1]?.path ?? '')).data.toString()).toBe('content');
  });

  test('the root of the file system can be listed', async () => {
    const { entries } = await listDirectory(new RootSet(['/']), '/');
    expect(entries.find((entry) => entry.name === 'proc')?.path).toBe('/proc');
  });
});

describe('caps', () => {
  test('the caller’s cap is kept, and hitting it is said only if there is more', async () => {
    using box = makeSandbox();
    for (const name of ['a', 'b', 'c']) box.file(name);
    const list = (maxEntries: number): Promise<unknown> => listDirectory(box.set, box.root, { maxEntries });
    expect(await list(3)).toMatchObject({ truncated: false });
    expect(await list(2)).toMatchObject({ truncated: true, entries: [{ name: 'a' }, { name: 'b' }] });
    expect(await list(0)).toMatchObject({ truncated: true, entries: [] });
  });

  test('no list gives more than its cap, and others have their turn all the while', async () => {
    using box = makeSandbox();
    for (const name of ['a', 'b', 'c']) fill(box, name, Math.ceil((MAX_LIST_ENTRIES + 1) / 3));
    let turns = 0;
    const beat = setInterval(() => (turns += 1), 1);
    const { entries, truncated } = await listDirectory(box.set, box.root, { recursive: true });
    clearInterval(beat);
    expect([entries.length, truncated]).toEqual([MAX_LIST_ENTRIES, true]);
    expect(turns).toBeGreaterThan(20);
    const all = await globPaths(box.set, box.root, '**', { maxMatches: MAX_GLOB_MATCHES * 2 });
    expect([all.matches.length, all.truncated]).toEqual([MAX_GLOB_MATCHES, true]);
  });

  test.each([0, 1_000_000])(
    'a directory with too many names is cut off and said to be',
    async (largeBytes) => {
      using box = makeSandbox();
      for (const name of ['c', 'b', 'a', 'd']) box.file(name);
      using directory = pinDirectory(box.set, box.root);
      const read = (maxEntries: number): ReturnType<typeof readDirectory> =>
        readDirectory(directory, new Turns(), { maxEntries, largeBytes });
      expect(await read(4)).toMatchObject({
        truncated: false,
        entries: ['a', 'b', 'c', 'd'].map((name) => ({ name })),
      });
      expect(MAX_DIRECTORY_ENTRIES).toBeGreaterThanOrEqual(MAX_LIST_ENTRIES); // one directory can fill a list
      const cut = await read(3);
      expect([cut.truncated, cut.entries.length]).toEqual([true, 3]);
      const names = (maxEntries: number): ReturnType<typeof readNames> =>
        readNames(directory, new Turns(), { maxEntries, largeBytes });
      expect(await names(4)).toEqual({ truncated: false, names: ['a', 'b', 'c', 'd'] });
      expect(await names(3)).toMatchObject({ truncated: true, names: { length: 3 } });
    },
  );

  test('a tree deeper than the walk goes is cut off and said to be', async () => {
    using box = makeSandbox();
    mkdirSync(box.at(...Array.from({ length: MAX_WALK_LEVELS + 5 }, () => 'd')), { recursive: true });
    const { entries, truncated } = await listDirectory(box.set, box.root, { recursive: true });
    expect([entries.length, truncated]).toEqual([MAX_WALK_LEVELS, true]);
  });

  test('can be given up', async () => {
    using box = makeSandbox();
    for (let i = 0; i < 300; i++) box.file(`${i % 20}/${i}`);
    const gone = AbortSignal.abort(new Error('left'));
    await expect(listDirectory(box.set, box.root, { signal: gone })).rejects.toThrow('left');
  });
});

test('directories that may not be read are counted, not fatal', async () => {
  using box = makeSandbox();
  box.file('closed/x');
  box.file('names/x');
  chmodSync(box.at('closed'), 0o300);
  chmodSync(box.at('names'), 0o400);
  await asNobody(box, async () => {
    const { entries, unreadable } = await listDirectory(box.set, box.root, { recursive: true });
    expect((await globPaths(box.set, box.root, '**')).unreadable).toBe(1);
    expect(await globPaths(box.set, box.root, '*/*')).toMatchObject({
      matches: [box.at('names', 'x')],
      unreadable: 1,
    });
    await expect(listDirectory(box.set, box.at('closed'))).rejects.toThrow(AccessDeniedError);
    expect(entries.map((entry) => [entry.name, entry.size])).toEqual([
      ['closed', undefined],
      ['names', undefined],
      ['x', undefined],
    ]);
    expect(unreadable).toBe(1);
    chmodSync(box.at('closed'), 0o700);
    chmodSync(box.at('names'), 0o700);
  });
});

/** Many names of one file: far cheaper than many files. */
function fill(box: Sandbox, directory: string, count: number): void {
  const first = box.file(`${directory}/0`);
  for (let i = 1; i < count; i++) linkSync(first, box.at(directory, String(i)));
}
