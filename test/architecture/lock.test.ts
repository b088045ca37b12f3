// The lock file is whole: `npm ci` on a clean clone is the first thing anybody does.

import { expect, test } from 'vitest';
import { missingEntries, readLock } from '../../scripts/complete-lock.js';

test('every optional package is in the lock file; `npm run lock` completes it', () => {
  expect(Object.keys(missingEntries(readLock()))).toEqual([]);
});

test('a package that is wanted and not there is seen, wherever npm would put it', () => {
  const wanted = {
    version: '1.0.0',
    dev: true,
    optionalDependencies: { '@x/cli-linux-arm64-musl': '2.0.0', here: '1.0.0', nested: '1.0.0' },
  };
  const packages = {
    'node_modules/a': wanted,
    'node_modules/here': {},
    'node_modules/a/node_modules/nested': {},
  };
  expect(missingEntries({ packages })).toEqual({
    'node_modules/@x/cli-linux-arm64-musl': {
      version: '2.0.0',
      cpu: ['arm64'],
      os: ['linux'],
      libc: ['musl'],
      dev: true,
      optional: true,
    },
  });
});
