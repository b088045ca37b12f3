import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { FilesUnsupportedError, InvalidPathError } from '../../../../src/host/files/path-errors.js';
import { isInside } from '../../../../src/host/files/is-inside.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { runs } from '../../../helpers/runs.js';

const path = fc
  .array(fc.constantFrom('a', 'ab', 'a b', 'é', '..x', ' (deleted)'))
  .map((names) => `/${names.join('/')}`);

describe('inside', () => {
  test('is decided by whole names', () => {
    fc.assert(
      fc.property(path, path, (inner, outer) => {
        const names = (text: string): string[] => text.split('/').filter((name) => name !== '');
        const expected = names(outer).every((name, i) => names(inner)[i] === name);
        expect(isInside(inner, outer)).toBe(expected);
      }),
      { numRuns: runs(10_000) },
    );
  });

  test.each([
    ['/srv/app2', '/srv/app', false],
    ['/srv/app', '/srv/app', true],
    ['/srv', '/srv/app', false],
    ['/srv/app/x', '/srv/app', true],
    ['/anything', '/', true],
    ['pipe:[1]', '/', false],
  ])('%s in %s: %s', (inner, outer, expected) => {
    expect(isInside(inner, outer)).toBe(expected);
  });
});

describe('a set of roots', () => {
  test('finds the innermost root', () => {
    const set = new RootSet(['/srv', '/srv/app', '/opt']);
    expect(set.rootOf('/srv/app/x')?.real).toBe('/srv/app');
    expect(set.rootOf('/srv/app2')?.real).toBe('/srv');
    expect(set.rootOf('/etc')).toBeUndefined();
    expect(set.holdsRoot('/srv')).toBe(true);
    expect(set.holdsRoot('/srv/app/x')).toBe(false);
  });

  test('without a root nothing is inside', () => {
    expect(new RootSet([]).contains('/')).toBe(false);
  });

  test.each(['relative', '/srv/', '/srv/../etc', ''])('refuses %j as a root', (root) => {
    expect(() => new RootSet([root])).toThrow(InvalidPathError);
  });
});

describe('elsewhere than on Linux', () => {
  const platform = process.platform;
  afterEach(() => {
    vi.restoreAllMocks();
    Object.defineProperty(process, 'platform', { value: platform });
  });

  test('a set cannot be made', () => {
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    expect(() => new RootSet(['/srv'])).toThrow(FilesUnsupportedError);
  });
});
