import { chmodSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { DEFAULT_PATH, placesOf } from '../../../../src/host/process/search-path.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

test('a name is looked for in every folder of the PATH, in order', () => {
  expect(placesOf('ls', '/a:/b/:c')).toEqual(['/a/ls', '/b//ls', 'c/ls']);
  expect(placesOf('ls')).toEqual(placesOf('ls', DEFAULT_PATH));
  expect(placesOf('ls')).toEqual(['/usr/bin/ls', '/bin/ls']);
});

test('a name with a slash is a path, whatever the PATH says', () => {
  expect(placesOf('./ls', '/a')).toEqual(['./ls']);
  expect(placesOf('/x/ls', '/a')).toEqual(['/x/ls']);
});

test('an empty entry is the working directory, as the system has it', () => {
  expect(placesOf('mine', ':/a')).toEqual(['./mine', '/a/mine']);
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'hawser-path-')));
  try {
    writeFileSync(join(dir, 'mine'), '#!/bin/sh\nexit 7\n');
    chmodSync(join(dir, 'mine'), 0o755);
    const name = 'mine';
    expect(spawnSync(name, { cwd: dir, env: { PATH: '' } }).status).toBe(7);
  } finally {
    removeFolder(dir);
  }
});
