import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, test } from 'vitest';
import {
  ForbiddenPathError,
  InvalidPatternError,
  NotADirectoryError,
  NotFoundError,
} from '../../../../src/host/files/errors.js';
import { type GlobOptions, globPaths } from '../../../../src/host/files/glob.js';
import { listDirectory } from '../../../../src/host/files/list.js';
import { MAX_WALK_LEVELS } from '../../../../src/host/files/read-directory.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { makeSandbox, type Sandbox } from './sandbox.js';

const FILES = [
  'a.ts',
  'b.js',
  'src/a.ts',
  'src/x/b.ts',
  'src/x/y/c.ts',
  'src-b/d.ts',
  '.git/config',
  'src/.env.ts',
];

async function glob(box: Sandbox, pattern: string, options: GlobOptions = {}): Promise<string[]> {
  const { matches } = await globPaths(box.set, box.root, pattern, options);
  return matches.map((path) => path.slice(box.root.length + 1));
}

describe('finding', () => {
  test.each<[string, string[]]>([
    ['*.ts', ['a.ts']],
    ['*', ['a.ts', 'b.js', 'src', 'src-b']],
    ['**/*.ts', ['a.ts', 'src/a.ts', 'src/x/b.ts', 'src/x/y/c.ts', 'src-b/d.ts']],
    ['src/**', ['src/a.ts', 'src/x', 'src/x/b.ts', 'src/x/y', 'src/x/y/c.ts']],
    ['src/**/c.ts', ['src/x/y/c.ts']],
    ['src/**/**/*.ts', ['src/a.ts', 'src/x/b.ts', 'src/x/y/c.ts']],
    ['**/x/**/*.ts', ['src/x/b.ts', 'src/x/y/c.ts']],
    ['{src,src-b}/*.ts', ['src/a.ts', 'src-b/d.ts']],
    ['{src/x,src-b}/*.{ts,js}', ['src/x/b.ts', 'src-b/d.ts']],
    ['src/[ax].ts', ['src/a.ts']],
    ['src/?/*.ts', ['src/x/b.ts']],
    ['*/', ['src', 'src-b']],
    ['**/y/', ['src/x/y']],
    ['.*/config', ['.git/config']],
    ['src/.*', ['src/.env.ts']],
    ['src/a.ts', ['src/a.ts']],
    ['./src//a.ts', ['src/a.ts']],
    ['src/missing', []],
    ['missing/**', []],
    ['a.ts/**', []],
    [`*/${'x'.repeat(300)}`, []],
    ['src/../b.js', ['b.js']],
    ['{a.ts,*.ts,**/a.ts}', ['a.ts', 'src/a.ts']],
  ])('%s', async (pattern, expected) => {
    using box = makeSandbox();
    for (const file of FILES) box.file(file);
    expect(await glob(box, pattern)).toEqual(expected);
  });

  test('names with a dot in front, and files only, on demand', async () => {
    using box = makeSandbox();
    for (const file of FILES) box.file(file);
    expect(await glob(box, '*', { dot: true })).toEqual(['.git', 'a.ts', 'b.js', 'src', 'src-b']);
    expect(await glob(box, '**/*i*', { dot: true })).toEqual(['.git', '.git/config']);
    expect(await glob(box, '**', { onlyFiles: true })).toEqual(
      FILES.filter((file) => !file.includes('.git') && !file.includes('.env')),
    );
  });

  test('absolute patterns, and patterns with several beginnings, in one order', async () => {
    using box = makeSandbox();
    for (const file of FILES) box.file(file);
    expect(await glob(box, `${box.root}/src/*.ts`)).toEqual(['src/a.ts']);
    expect(await glob(box, `{${box.root}/src-b,src,${box.root}/src}/*.ts`)).toEqual([
      'src/a.ts',
      'src-b/d.ts',
    ]);
    const { matches } = await globPaths(box.set, box.at('src/x'), '../*.ts');
    expect(matches).toEqual([box.at('src/a.ts')]);
  });

  test('agrees with picomatch over whole trees', async () => {
    const names = ['a', 'b', 'ab', '.a', 'a.b'];
    const file = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 });
    const segment = fc.constantFrom('**', '*', 'a', 'a*', '*b', '?', '[ab]', '{a,b}', '.a', '*.b', '.*');
    const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    using box = makeSandbox();
    let trees = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { maxLength: 8 }),
        fc.array(pattern, { minLength: 4, maxLength: 8 }),
        fc.boolean(),
        async (files, patterns, dot) => {
          const tree = `t${(trees += 1)}`;
          for (const parts of files) mkdirSync(box.at(tree, ...parts), { recursive: true });
          mkdirSync(box.at(tree), { recursive: true });
          const all = (await listDirectory(box.set, box.at(tree), { recursive: true })).entries.map((entry) =>
            entry.path.slice(box.at(tree).length + 1),
          );
          for (const text of patterns) {
            const found = (await globPaths(box.set, box.at(tree), text, { dot })).matches.map((path) =>
              path.slice(box.at(tree).length + 1),
            );
            // To picomatch `a/**` means `a` as well; here `**` at the end means what is below.
            const wanted = picomatch(text.replace(/\*\*$/, '**/*'), { dot });
            expect(found, `${text} ${dot}`).toEqual(all.filter((path) => wanted(path)));
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('links', () => {
  test('a name goes through a link that stays inside, `**` through none', async () => {
    using box = makeSandbox();
    box.file('real/deep/x.ts');
    symlinkSync('real', box.at('link'));
    symlinkSync('..', box.at('real/up'));
    symlinkSync('real/deep/x.ts', box.at('file'));
    expect(await glob(box, '**/*.ts')).toEqual(['real/deep/x.ts']);
    expect(await glob(box, 'link/deep/*.ts')).toEqual(['link/deep/x.ts']);
    expect(await glob(box, '*/deep/*.ts')).toEqual(['link/deep/x.ts', 'real/deep/x.ts']);
    expect(await glob(box, 'link/**')).toEqual(['link/deep', 'link/deep/x.ts', 'link/up']);
    expect(await glob(box, '*/')).toEqual(['link', 'real']);
    expect(await glob(box, 'real/up/real/up/real/deep/*')).toEqual(['real/up/real/up/real/deep/x.ts']);
  });

  test('nothing is looked for outside', async () => {
    using box = makeSandbox();
    symlinkSync(box.outside, box.at('out'));
    symlinkSync('/', box.at('top'));
    expect(await glob(box, 'out/*')).toEqual([]);
    expect(await glob(box, '*/*')).toEqual([]);
    expect(await glob(box, '*/')).toEqual([]);
    expect(await glob(box, `top${box.outside}/*`)).toEqual([]);
    expect(await glob(box, '**')).toEqual(['out', 'top']);
    for (const pattern of ['../outside/*', '/etc/*', '{x,../..}/*', `${box.root}2/*`, '/no-such/*']) {
      await expect(glob(box, pattern)).rejects.toThrow(ForbiddenPathError);
    }
    await expect(globPaths(box.set, box.at('out'), '*')).rejects.toThrow(ForbiddenPathError);
    await expect(globPaths(box.set, box.base, '*')).rejects.toThrow(ForbiddenPathError);
  });
});

describe('edges', () => {
  test('a base that is missing or no directory is an error', async () => {
    using box = makeSandbox();
    box.file('file');
    await expect(globPaths(box.set, box.at('missing'), '*')).rejects.toThrow(NotFoundError);
    await expect(globPaths(box.set, box.at('file'), '*')).rejects.toThrow(NotADirectoryError);
    await expect(globPaths(box.set, box.root, '')).rejects.toThrow(InvalidPatternError);
  });

  test('the caller’s cap is kept, and hitting it is said only if there is more', async () => {
    using box = makeSandbox();
    for (const name of ['a', 'b', 'c']) box.file(name);
    const run = (maxMatches: number): Promise<unknown> => globPaths(box.set, box.root, '*', { maxMatches });
    expect(await run(3)).toMatchObject({ truncated: false });
    expect(await run(2)).toMatchObject({ truncated: true, matches: [box.at('a'), box.at('b')] });
  });

  test('the names below a wildcard are found as all others are: in order, with any bytes, up to the cap', async () => {
    using box = makeSandbox();
    for (const name of ['d/b', 'd/a', 'd/\u{10000}', 'd/\uffee', 'e/c', 'f']) box.file(name);
    writeFileSync(Buffer.concat([Buffer.from(`${box.root}/e/`), Buffer.from([0x64, 0xff])]), '');
    symlinkSync('e', box.at('to-e'));
    const all = ['d/a', 'd/b', 'd/\u{10000}', 'd/\uffee', 'e/c', 'e/d\udcff', 'to-e/c', 'to-e/d\udcff'];
    expect(await glob(box, '*/*')).toEqual(all);
    for (const maxMatches of [0, 3, 7]) {
      const { matches, truncated } = await globPaths(box.set, box.root, '*/*', { maxMatches });
      expect([matches.length, truncated]).toEqual([maxMatches, true]);
    }
    expect(await globPaths(box.set, box.root, '*/*', { maxMatches: 8 })).toMatchObject({ truncated: false });
  });

  test('a tree deeper than the walk goes is cut off and said to be', async () => {
    using box = makeSandbox();
    mkdirSync(box.at(...Array.from({ length: MAX_WALK_LEVELS + 5 }, () => 'd')), { recursive: true });
    const { matches, truncated } = await globPaths(box.set, box.root, '**');
    expect([matches.length, truncated]).toEqual([MAX_WALK_LEVELS, true]);
  });

  test('names that are not UTF-8 are found, by wildcard and by name', async () => {
    using box = makeSandbox();
    writeFileSync(Buffer.concat([Buffer.from(`${box.root}/`), Buffer.from([0x61, 0xff])]), '');
    expect(await glob(box, '*')).toEqual(['a\udcff']);
    expect(await glob(box, 'a?')).toEqual(['a\udcff']);
    expect(await glob(box, 'a\udcff')).toEqual(['a\udcff']);
  });

  test('can be given up, and works from the root of the file system', async () => {
    using box = makeSandbox();
    const gone = AbortSignal.abort(new Error('left'));
    await expect(globPaths(box.set, box.root, '**', { signal: gone })).rejects.toThrow('left');
    const { matches } = await globPaths(new RootSet(['/']), '/', `${join(box.outside).slice(1)}/*`);
    expect(matches).toEqual([join(box.outside, 'dir'), join(box.outside, 'secret.txt')]);
  });
});
