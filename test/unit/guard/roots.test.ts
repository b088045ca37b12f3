import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidRootError, MAX_ROOTS, Roots, RootsNotGrantedError } from '../../../src/guard/roots.js';
import { ForbiddenPathError } from '../../../src/host/files/errors.js';
import { InvalidPathError } from '../../../src/host/files/path-errors.js';
import { readFile } from '../../../src/host/files/read.js';
import { runs } from '../../helpers/runs.js';
import { removeFolder } from '../../helpers/remove-folder.js';

interface Tree extends Disposable {
  readonly base: string;
  at(path: string): string;
}

function makeTree(...directories: string[]): Tree {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-roots-')));
  for (const directory of directories) mkdirSync(join(base, directory), { recursive: true });
  return {
    base,
    at: (path) => join(base, path),
    [Symbol.dispose]: () => removeFolder(base),
  };
}

describe('configured roots', () => {
  test('are cleaned, resolved and kept in order, equal ones once', () => {
    using tree = makeTree('b', 'a/sub');
    symlinkSync('a', tree.at('alias'));
    const roots = Roots.open([`${tree.base}//b/`, tree.at('alias'), tree.at('a/../a')]);
    expect(roots.shown).toEqual([tree.at('b'), tree.at('alias')]);
    expect(roots.real).toEqual([tree.at('b'), tree.at('a')]);
  });

  test.each([
    '',
    'relative/path',
    './x',
    '~',
    '~/x',
    '~other/x',
    '/no/such/directory',
    '/etc/passwd',
    '/a\0b',
    '/',
    '/proc/self/root',
    '//',
  ])('%j is refused', (root) => {
    expect(() => Roots.open([root])).toThrow(InvalidRootError);
  });

  test('the whole file system has to be allowed explicitly', () => {
    const roots = Roots.open(['/'], { allowFilesystemRoot: true });
    expect(roots.real).toEqual(['/']);
    expect(roots.contains('/etc/passwd')).toBe(true);
    expect(roots.display('/etc')).toBe('/etc');
  });

  test('`~` stands for the home that was given, and for none else', () => {
    using tree = makeTree('home/project');
    const home = tree.at('home');
    expect(Roots.open(['~', '~/project'], { home }).real).toEqual([home, tree.at('home/project')]);
    expect(() => Roots.open(['~root'], { home })).toThrow(InvalidRootError);
  });

  test('a link to / is / too', () => {
    using tree = makeTree();
    symlinkSync('/', tree.at('top'));
    expect(() => Roots.open([tree.at('top')])).toThrow(InvalidRootError);
  });

  test('none at all allow nothing', async () => {
    const roots = Roots.open([]);
    expect(roots.contains('/')).toBe(false);
    await expect(readFile(roots.files, '/etc/passwd')).rejects.toThrow(ForbiddenPathError);
    expect(() => roots.narrow(['/'])).toThrow(RootsNotGrantedError);
  });

  test('as many as the cap are taken, one more is refused', () => {
    using tree = makeTree(...Array.from({ length: MAX_ROOTS + 1 }, (_, i) => `r${i}`));
    const all = Array.from({ length: MAX_ROOTS + 1 }, (_, i) => tree.at(`r${i}`));
    expect(Roots.open(all.slice(1)).real).toHaveLength(MAX_ROOTS);
    expect(() => Roots.open(all)).toThrow(InvalidRootError);
    expect(Roots.open([tree.base]).narrow(all).real).toHaveLength(MAX_ROOTS);
  });
});

describe('a session', () => {
  test('is granted what lies in an allowed root, and the allowed roots in what it asked for', () => {
    using tree = makeTree('srv/app/sub', 'srv/app2', 'srv/lib', 'opt');
    symlinkSync(tree.at('srv/app/sub'), tree.at('opt/into'));
    symlinkSync(tree.at('opt'), tree.at('srv/app/out'));
    const roots = Roots.open([tree.at('srv/app'), tree.at('srv/lib')]);
    const granted = (...requested: string[]): readonly string[] =>
      roots
        .narrow(requested.map((path) => tree.base + path))
        .real.map((path) => path.slice(tree.base.length));
    expect(granted('/srv/app')).toEqual(['/srv/app']);
    expect(granted('/srv/app/')).toEqual(['/srv/app']);
    expect(granted('/srv/app/sub')).toEqual(['/srv/app/sub']);
    expect(granted('/srv/app/sub/../../lib')).toEqual(['/srv/lib']);
    expect(granted('/srv')).toEqual(['/srv/app', '/srv/lib']);
    expect(granted('')).toEqual(['/srv/app', '/srv/lib']);
    expect(granted('/opt/into')).toEqual(['/srv/app/sub']);
    expect(granted('/srv/app2', '/srv/lib', '/srv/missing')).toEqual(['/srv/lib']);
    expect(granted('/srv/lib', '/srv/lib/', '/srv')).toEqual(['/srv/lib', '/srv/app']);
    for (const path of ['/srv/app2', '/opt', '/srv/app/out', '/srv/missing', '/srv/app/missing']) {
      expect(() => granted(path)).toThrow(RootsNotGrantedError);
    }
  });

  test('without a wish has all; with wishes that cannot be read, none', () => {
    using tree = makeTree('a');
    const roots = Roots.open([tree.at('a')]);
    expect(roots.narrow()).toBe(roots);
    expect(roots.narrow([])).toBe(roots);
    for (const wish of ['', 'a', '~', '/x\0y'])
      expect(() => roots.narrow([wish])).toThrow(RootsNotGrantedError);
    expect(roots.narrow(['/']).real).toEqual(roots.real);
  });

  test('is held to its own roots, and can only be narrowed further', async () => {
    using tree = makeTree('a/x', 'b');
    writeFileSync(tree.at('a/file'), 'a');
    writeFileSync(tree.at('b/file'), 'b');
    const session = Roots.open([tree.at('a'), tree.at('b')]).narrow([tree.at('b')]);
    expect((await readFile(session.files, tree.at('b/file'))).data.toString()).toBe('b');
    await expect(readFile(session.files, tree.at('a/file'))).rejects.toThrow(ForbiddenPathError);
    expect(() => session.narrow([tree.at('a')])).toThrow(RootsNotGrantedError);
    expect(session.narrow([tree.base]).real).toEqual([tree.at('b')]);
  });

  test('whose root is later replaced by a link is not led out by it', async () => {
    using tree = makeTree('a/sub', 'out');
    writeFileSync(tree.at('out/file'), 'secret');
    const session = Roots.open([tree.at('a')]).narrow([tree.at('a/sub')]);
    removeFolder(tree.at('a/sub'));
    symlinkSync(tree.at('out'), tree.at('a/sub'));
    await expect(readFile(session.files, tree.at('a/sub/file'))).rejects.toThrow(ForbiddenPathError);
  });

  test('never gets more than was allowed, whatever it asks for', () => {
    const names = ['a', 'a/b', 'a/b/c', 'ab', 'd', 'd/a', ''];
    using tree = makeTree(...names);
    const subset = fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 });
    const inside = (inner: string, outer: string): boolean => !posix.relative(outer, inner).startsWith('..');
    fc.assert(
      fc.property(subset, subset, (allowed, wished) => {
        const roots = Roots.open(allowed.map((name) => tree.at(name)));
        fc.pre(wished.length > 0);
        let granted: readonly string[] = [];
        try {
          granted = roots.narrow(wished.map((name) => tree.at(name))).real;
        } catch (error) {
          if (!(error instanceof RootsNotGrantedError)) throw error;
        }
        for (const name of names) {
          const path = tree.at(name);
          const within = (list: readonly string[]): boolean => list.some((root) => inside(path, root));
          expect(within(granted)).toBe(within(roots.real) && within(wished.map((wish) => tree.at(wish))));
        }
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('paths', () => {
  test('are relative to the working directory, else to the first root', () => {
    using tree = makeTree('a');
    const roots = Roots.open([tree.at('a')]);
    expect(roots.resolve('x/../y')).toBe(tree.at('a/y'));
    expect(roots.resolve('../z', tree.at('a/b'))).toBe(tree.at('a/z'));
    expect(roots.resolve('/etc//passwd', tree.at('a'))).toBe('/etc/passwd');
    expect(roots.resolve('~/x')).toBe(tree.at('a/~/x'));
    expect(() => roots.resolve('')).toThrow(InvalidPathError);
    expect(() => roots.resolve('a\0b')).toThrow(InvalidPathError);
  });

  test('are shown in the words of whoever configured them', () => {
    using tree = makeTree('real/sub');
    symlinkSync('real', tree.at('alias'));
    const roots = Roots.open([tree.at('alias'), tree.at('alias/sub')]);
    expect(roots.display(tree.at('real'))).toBe(tree.at('alias'));
    expect(roots.display(tree.at('real/x'))).toBe(tree.at('alias/x'));
    expect(roots.display(tree.at('real/sub/x'))).toBe(tree.at('alias/sub/x'));
    expect(roots.display('/etc')).toBe('/etc');
  });
});
