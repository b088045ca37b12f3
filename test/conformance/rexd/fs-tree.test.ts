// REXD v1: fs.list, fs.glob, fs.stat.

import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../kit/verifies.js';
import { type FilesUnderTest, startFiles } from './fs-client.js';

const MIB = 1024 * 1024;

verifies('rexd/fs.list/result', async () => {
  await using files = await startFiles();
  const file = files.put('b.txt', 'four');
  files.put('.hidden');
  symlinkSync('b.txt', join(files.root, 'link'));
  const listed = await files.ask('fs.list', { path: files.root });
  expect(listed).toMatchObject({ path: files.root, truncated: false });
  const entries = listed['entries'] as Record<string, unknown>[];
  expect(entries.map(({ name, type }) => [name, type])).toEqual([
    ['.hidden', 'file'],
    ['b.txt', 'file'],
    ['link', 'symlink'],
    ['sub', 'dir'],
  ]);
  const mtime = Math.floor(statSync(file).mtimeMs);
  expect(entries[1]).toEqual({ name: 'b.txt', path: file, type: 'file', size: 4, mtime });
  expect(entries[3]).toMatchObject({ size: null });
});

verifies('rexd/fs.list/recursive', async () => {
  await using files = await startFiles();
  files.put('a/b/c.txt');
  files.put('a/z.txt');
  files.put('b.txt');
  symlinkSync('..', join(files.root, 'a/b/up'));
  expect(await names(files, { path: '.', recursive: true })).toEqual([
    'a',
    'a/b',
    'a/b/c.txt',
    'a/b/up',
    'a/z.txt',
    'b.txt',
    'sub',
  ]);
});

verifies('rexd/fs.list/max-entries', async () => {
  await using files = await startFiles();
  for (const name of ['a', 'b', 'c']) files.put(name);
  const list = async (max_entries: number): Promise<unknown[]> => {
    const { entries, truncated } = await files.ask('fs.list', { path: '.', max_entries });
    return [(entries as unknown[]).length, truncated];
  };
  expect(await list(2)).toEqual([2, true]);
  expect(await list(4)).toEqual([4, false]);
  expect(await list(0)).toEqual([4, false]);
});

verifies('rexd/fs.list/line-length', async () => {
  await using files = await startFiles();
  manyFiles(files, 6000);
  const { bytes, answer } = await files.answerBytes('fs.list', { path: 'many' });
  expect(bytes).toBeLessThan(MIB);
  expect(bytes).toBeGreaterThan(MIB * 0.9);
  expect(answer.result).toMatchObject({ truncated: true });
  const all = await files.ask('fs.list', { path: 'many', max_entries: 6000 });
  expect([(all['entries'] as unknown[]).length, all['truncated']]).toEqual([6000, false]);
});

verifies('rexd/fs.list/no-folder', async () => {
  await using files = await startFiles();
  files.put('a.txt');
  for (const recursive of [true, false]) {
    for (const path of ['a.txt', 'none'])
      expect((await files.refusal('fs.list', { path, recursive })).code).toBe(-32602);
  }
});

verifies('rexd/fs.list/any-name', async () => {
  await using files = await startFiles();
  const raw = Buffer.concat([Buffer.from(`${files.root}/sub/`), Buffer.from([0x66, 0xff, 0xfe])]);
  writeFileSync(raw, 'reached');
  const { entries } = await files.ask('fs.list', { path: 'sub' });
  const [entry] = entries as { path: string }[];
  expect(await files.ask('fs.read', { path: entry?.path })).toMatchObject({ content: 'reached' });
});

verifies('rexd/fs.glob/result', async () => {
  await using files = await startFiles();
  const [a, b] = [files.put('sub/a.ts'), files.put('sub/deep/b.ts')];
  expect(await files.ask('fs.glob', { pattern: 'sub/*.ts' })).toEqual({ matches: [a], truncated: false });
  expect(await matches(files, { pattern: '**/*.ts', cwd: 'sub' })).toEqual([a, b]);
  expect(await matches(files, { pattern: `${files.root}/**/b.ts` })).toEqual([b]);
  expect(await matches(files, { pattern: 'none*' })).toEqual([]);
  expect((await files.refusal('fs.glob', {})).code).toBe(-32602);
});

verifies('rexd/fs.glob/patterns', async () => {
  await using files = await startFiles();
  for (const name of ['a.ts', 'b.tsx', 'c.js', '.env', 'x/a.ts', 'x/y/z/a.ts']) files.put(`sub/${name}`);
  const found = async (pattern: string): Promise<string[]> =>
    (await matches(files, { pattern, cwd: 'sub' })).map((path) => path.slice(files.root.length + 5));
  expect(await found('*.{ts,tsx}')).toEqual(['a.ts', 'b.tsx']);
  expect(await found('**/a.ts')).toEqual(['a.ts', 'x/a.ts', 'x/y/z/a.ts']);
  expect(await found('x/**')).toEqual(['x/a.ts', 'x/y', 'x/y/z', 'x/y/z/a.ts']);
  expect(await found('?.js')).toEqual(['c.js']);
  expect(await found('[a-b].*')).toEqual(['a.ts', 'b.tsx']);
  expect(await found('*')).toContain('.env');
  expect(await found('x/{y/z,q}/a.ts')).toEqual(['x/y/z/a.ts']);
});

verifies('rexd/fs.glob/max-matches', async () => {
  await using files = await startFiles();
  for (const name of ['a', 'b', 'c']) files.put(`sub/${name}`);
  const { matches: two, truncated } = await files.ask('fs.glob', { pattern: 'sub/*', max_matches: 2 });
  expect([(two as string[]).length, truncated]).toEqual([2, true]);
  expect(await files.ask('fs.glob', { pattern: 'sub/*', max_matches: 3 })).toMatchObject({
    truncated: false,
  });
});

verifies('rexd/fs.glob/line-length', async () => {
  await using files = await startFiles();
  manyFiles(files, 6000);
  const { bytes, answer } = await files.answerBytes('fs.glob', { pattern: '**/*' });
  expect(bytes).toBeLessThan(MIB);
  expect(answer.result).toMatchObject({ truncated: true });
  const all = await files.ask('fs.glob', { pattern: 'many/*', max_matches: 6000 });
  expect([(all['matches'] as unknown[]).length, all['truncated']]).toEqual([6000, false]);
});

verifies('rexd/fs.stat/result', async () => {
  await using files = await startFiles();
  const path = files.put('a.txt', 'four');
  chmodSync(path, 0o640);
  const { mtimeMs, uid, gid } = statSync(path);
  expect(await files.ask('fs.stat', { path: 'a.txt' })).toEqual({
    path,
    exists: true,
    type: 'file',
    size: 4,
    mtime: Math.floor(mtimeMs),
    mode: '-rw-r-----',
    uid,
    gid,
  });
  expect(await files.ask('fs.stat', { path: '.' })).toMatchObject({
    type: 'dir',
    mode: expect.stringMatching(/^d/),
  });
});

verifies('rexd/fs.stat/missing', async () => {
  await using files = await startFiles();
  const file = files.put('a.txt');
  for (const path of [join(files.root, 'none'), join(file, 'below'), join(files.root, 'no/such')])
    expect(await files.ask('fs.stat', { path })).toEqual({ path, exists: false });
});

verifies('rexd/fs.stat/link', async () => {
  await using files = await startFiles();
  const targets = ['a.txt', 'nowhere', files.rexd.grounds.outside];
  for (const [i, target] of targets.entries()) {
    symlinkSync(target, join(files.root, `link${i}`));
    expect(await files.ask('fs.stat', { path: `link${i}` })).toMatchObject({
      exists: true,
      type: 'symlink',
      symlink_target: target,
    });
  }
});

async function names(files: FilesUnderTest, params: object): Promise<string[]> {
  const { entries } = await files.ask('fs.list', params);
  return (entries as { path: string }[]).map(({ path }) => path.slice(files.root.length + 1));
}

async function matches(files: FilesUnderTest, params: object): Promise<string[]> {
  return (await files.ask('fs.glob', params))['matches'] as string[];
}

function manyFiles(files: FilesUnderTest, count: number): void {
  mkdirSync(join(files.root, 'many'));
  for (let i = 0; i < count; i++) writeFileSync(join(files.root, 'many', `${'n'.repeat(180)}${i}`), '');
}
