// fs.search, and .gitignore wherever it is heeded.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../kit/verifies.js';
import { type FilesUnderTest, startFiles } from './fs-client.js';

const MIB = 1024 * 1024;

interface Match {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
  readonly before?: string[];
}

verifies('rexd/fs.search/result', async () => {
  await using files = await startFiles();
  const path = files.put('sub/a.txt', 'one\nt\u00E9xt needle\n');
  files.put('b.txt', 'nothing\n');
  expect(await files.ask('fs.search', { query: 'needle' })).toEqual({
    matches: [{ path, line: 2, column: 6, text: 't\u00E9xt needle' }],
    truncated: false,
    files_searched: 2,
    files_skipped: 0,
    binary_files: 0,
    large_files: 0,
    unreadable: 0,
  });
  expect(await found(files, { query: 'needle', path: 'sub/a.txt' })).toEqual(['sub/a.txt:2']);
  expect(await found(files, { query: 'needle', path: join(files.root, 'sub') })).toEqual(['sub/a.txt:2']);
});

verifies('rexd/fs.search/query', async () => {
  await using files = await startFiles();
  files.put('a', 'a.c\nabc\nA.C\n');
  expect(await found(files, { query: 'a.c' })).toEqual(['a:1']);
  expect(await found(files, { query: 'a.c', case_sensitive: false })).toEqual(['a:1', 'a:3']);
  expect(await found(files, { query: '^a.c$', regex: true })).toEqual(['a:1', 'a:2']);
  const { matches } = await files.ask('fs.search', { query: 'abc', context: 1 });
  expect(matches).toEqual([expect.objectContaining({ before: ['a.c'], after: ['A.C'] })]);
});

verifies('rexd/fs.search/files', async () => {
  await using files = await startFiles();
  files.put('.gitignore', 'out\n*.log\n!keep.log\n');
  files.put('src/.gitignore', '/gen\n');
  for (const name of ['a.ts', 'out/b.ts', 'c.log', 'keep.log', 'src/gen/d.ts', 'src/e.ts', '.git/f', '.env'])
    files.put(name, 'x');
  expect(await found(files, { query: 'x' })).toEqual(['.env:1', 'a.ts:1', 'keep.log:1', 'src/e.ts:1']);
  expect(await found(files, { query: 'x', include: ['*.ts'] })).toEqual(['a.ts:1', 'src/e.ts:1']);
  expect(await found(files, { query: 'x', exclude: ['src', '*.log'] })).toEqual(['.env:1', 'a.ts:1']);
  expect(await found(files, { query: 'x', hidden: false, exclude: ['*.log'] })).toEqual([
    'a.ts:1',
    'src/e.ts:1',
  ]);
  expect(await found(files, { query: 'x', gitignore: false })).toHaveLength(8);
  expect(await found(files, { query: 'x', path: 'src' })).toEqual(['src/e.ts:1']);
});

verifies('rexd/fs.search/skipped', async () => {
  await using files = await startFiles();
  const { outside } = files.rexd.grounds;
  writeFileSync(join(outside, 'secret'), 'x');
  symlinkSync(outside, join(files.root, 'out'));
  symlinkSync(join(outside, 'secret'), join(files.root, 'out-file'));
  execFileSync('mkfifo', [join(files.root, 'pipe')]);
  files.put('binary', 'x\0');
  truncateSync(files.put('large', 'x'), 17 * MIB);
  files.put('text', 'x');
  expect(await files.ask('fs.search', { query: 'x' })).toMatchObject({
    matches: [{ path: join(files.root, 'text') }],
    files_searched: 1,
    files_skipped: 2,
    binary_files: 1,
    large_files: 1,
  });
});

verifies('rexd/fs.search/caps', async () => {
  await using files = await startFiles();
  for (const name of ['a', 'b']) files.put(name, 'x\n'.repeat(700));
  expect(await counts(files, { query: 'x' })).toEqual([1000, true, 'matches']);
  expect(await counts(files, { query: 'x', max_matches: 2 })).toEqual([2, true, 'matches']);
  expect(await counts(files, { query: 'x', max_matches: 1400 })).toEqual([1400, false, undefined]);
  expect(await counts(files, { query: 'x', max_per_file: 3 })).toEqual([6, true, 'per_file']);
  expect(await counts(files, { query: 'x', max_per_file: 700, max_matches: 1400 })).toEqual([
    1400,
    false,
    undefined,
  ]);
  files.put('wide', `${'\u0001'.repeat(400)}x\n`.repeat(9000));
  for (const regex of [true, false]) {
    const { bytes, answer } = await files.answerBytes('fs.search', {
      query: 'x',
      path: 'wide',
      regex,
      max_matches: 9000,
      context: 20,
    });
    expect(bytes).toBeLessThan(MIB);
    expect(bytes).toBeGreaterThan(MIB / 2);
    expect(answer.result).toMatchObject({ truncated: true, truncated_by: 'answer_size' });
  }
});

verifies('rexd/fs.search/column', async () => {
  await using files = await startFiles();
  const noise = [0xff, 0x80, 0xe2, 0x82, 0x20, 0xf0, 0x9f, 0x98, 0x80, 0xc3, 0xa9];
  files.put('a', Buffer.from([...noise, ...Buffer.from('needle\n')]));
  for (const regex of [true, false]) {
    const { matches } = await files.ask('fs.search', { query: 'needle', regex });
    const [{ column, text }] = matches as [Match];
    expect(
      Array.from(text)
        .slice(column - 1)
        .join(''),
      `regex ${regex}`,
    ).toBe('needle');
  }
});

verifies('rexd/fs.search/long-line', async () => {
  await using files = await startFiles();
  files.put('a', `ab\n${'a'.repeat(15_000_000)}\nba\n`);
  files.put('b', 'abba\n');
  const query = '^(?:a|b)*$';
  const { matches, ...rest } = await files.ask('fs.search', { query, regex: true });
  expect((matches as Match[]).map(({ line }) => line)).toEqual([1, 3, 1]);
  expect(rest).toMatchObject({ truncated: true, truncated_by: 'pattern' });
});

verifies('rexd/fs.search/hostile', async () => {
  await using files = await startFiles();
  files.put('a', `${'a'.repeat(100)}!\n`);
  ask(files, 'slow', 'fs.search', { query: '^(a+)+$', regex: true });
  const quick = Array.from({ length: 20 }, (_, i) => `quick${i}`);
  for (const id of quick) ask(files, id, 'fs.stat', { path: 'a' });
  const first = [];
  for (const _ of quick) first.push((await files.rexd.answer()).id);
  expect(new Set(first)).toEqual(new Set(quick));
  const slow = await files.rexd.answer();
  expect(slow).toMatchObject({ id: 'slow', result: { truncated: true, truncated_by: 'pattern' } });
  expect(await files.ask('fs.search', { query: '^(a+)+$', regex: true, timeout_ms: 200 })).toMatchObject({
    truncated_by: 'time',
  });
});

verifies('rexd/fs.search/called-off', async () => {
  await using files = await startFiles();
  files.put('a', `${'a'.repeat(100)}!\n`);
  ask(files, 'search', 'fs.search', { query: '^(a+)+$', regex: true });
  ask(files, 'close', 'session.close', {});
  const answers = [await files.rexd.answer(), await files.rexd.answer()];
  expect(answers.find(({ id }) => id === 'close')).toMatchObject({ result: { ok: true } });
  expect(answers.find(({ id }) => id === 'search')).toMatchObject({ error: { code: -32602 } });
});

verifies('rexd/fs.search/refused', async () => {
  await using files = await startFiles();
  for (const wrong of [
    {},
    { query: '' },
    { query: 'a\nb' },
    { query: '(', regex: true },
    { query: 'x'.repeat(5000) },
    { query: 'x', include: ['../*'] },
    { query: 'x', path: 'none' },
  ])
    expect((await files.refusal('fs.search', wrong)).code, JSON.stringify(wrong)).toBe(-32602);
  for (const path of ['/etc', '../outside', '/'])
    expect((await files.refusal('fs.search', { query: 'x', path })).code).toBe(-32002);
});

verifies('rexd/fs.glob/gitignore', async () => {
  await using files = await startFiles();
  plantIgnored(files);
  const below = async (params: object): Promise<string[]> => {
    const { matches } = await files.ask('fs.glob', params);
    return (matches as string[]).map((path) => path.slice(files.root.length + 1));
  };
  expect(await below({ pattern: '**/*.ts', gitignore: true })).toEqual(['a.ts', 'sub/keep.ts']);
  expect(await below({ pattern: '**/*.ts' })).toEqual(['a.ts', 'out/b.ts', 'sub/gen.ts', 'sub/keep.ts']);
  expect(await below({ pattern: '.git/*', gitignore: true })).toEqual([]);
  expect(await below({ pattern: '*', cwd: 'sub', gitignore: true })).toEqual([
    'sub/.gitignore',
    'sub/keep.ts',
  ]);
});

verifies('rexd/fs.list/gitignore', async () => {
  await using files = await startFiles();
  plantIgnored(files);
  const names = async (params: object): Promise<string[]> => {
    const { entries } = await files.ask('fs.list', { path: '.', recursive: true, ...params });
    return (entries as { path: string }[]).map(({ path }) => path.slice(files.root.length + 1));
  };
  expect(await names({ gitignore: true })).toEqual([
    '.gitignore',
    'a.ts',
    'sub',
    'sub/.gitignore',
    'sub/keep.ts',
  ]);
  expect(await names({})).toContain('.git/config');
});

verifies('rexd/fs/big-tree', async () => {
  await using files = await startFiles();
  for (let folder = 0; folder < 20; folder++) {
    mkdirSync(join(files.root, `d${folder}`));
    for (let i = 0; i < 600; i++)
      writeFileSync(join(files.root, `d${folder}`, `${'n'.repeat(60)}${i}.txt`), 'x\n');
  }
  for (const [method, params] of [
    ['fs.list', { path: '.', recursive: true }],
    ['fs.glob', { pattern: '**/*.txt' }],
    ['fs.search', { query: 'x', max_matches: 10_000 }],
  ] as const) {
    const { bytes, answer } = await files.answerBytes(method, params);
    expect(bytes, method).toBeLessThan(MIB);
    expect(answer.result, method).toMatchObject({ truncated: true });
  }
  for (const [method, params] of [
    ['fs.list', { path: '.', recursive: true, max_entries: 5 }],
    ['fs.glob', { pattern: '**/*.txt', max_matches: 5 }],
    ['fs.search', { query: 'x', max_matches: 5 }],
  ] as const) {
    const { result } = await files.call(method, params);
    expect(result, method).toMatchObject({ truncated: true });
    const given = (result?.['entries'] ?? result?.['matches']) as unknown[];
    expect(given).toHaveLength(5);
  }
});

function plantIgnored(files: FilesUnderTest): void {
  files.put('.gitignore', 'out/\n');
  files.put('sub/.gitignore', '*.ts\n!keep.ts\n');
  for (const name of ['a.ts', 'out/b.ts', 'sub/gen.ts', 'sub/keep.ts', '.git/config']) files.put(name);
}

function ask(files: FilesUnderTest, id: string, method: string, params: object): void {
  const message = { jsonrpc: '2.0', id, method, params: { session_id: files.session, ...params } };
  files.rexd.write(`${JSON.stringify(message)}\n`);
}

async function found(files: FilesUnderTest, params: object): Promise<string[]> {
  const { matches } = await files.ask('fs.search', params);
  return (matches as Match[]).map(({ path, line }) => `${path.slice(files.root.length + 1)}:${line}`);
}

async function counts(files: FilesUnderTest, params: object): Promise<unknown[]> {
  const { matches, truncated, truncated_by } = await files.ask('fs.search', params);
  return [(matches as Match[]).length, truncated, truncated_by];
}
