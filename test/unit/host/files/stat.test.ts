import { chmodSync, lstatSync, mkdirSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ForbiddenPathError } from '../../../../src/host/files/errors.js';
import { statPath } from '../../../../src/host/files/stat.js';
import { makeSandbox, run } from './sandbox.js';

test('tells type, size, time, mode and owner', () => {
  using box = makeSandbox();
  const path = box.file('file', '12345');
  chmodSync(path, 0o4751);
  utimesSync(path, 1, 1_700_000_000.9876);
  expect(statPath(box.set, path)).toEqual({
    path,
    exists: true,
    type: 'file',
    size: 5,
    mtimeMs: 1_700_000_000_987,
    mode: 0o104751,
    uid: lstatSync(path).uid,
    gid: lstatSync(path).gid,
  });
  mkdirSync(box.at('dir'));
  run('mkfifo', box.at('fifo'));
  expect(statPath(box.set, box.at('dir'))).toMatchObject({ type: 'dir' });
  expect(statPath(box.set, box.at('fifo'))).toMatchObject({ type: 'other' });
  expect(statPath(box.set, `${box.root}/`)).toMatchObject({ path: box.root, type: 'dir' });
});

test('describes a link instead of following it, also one that leads out or nowhere', () => {
  using box = makeSandbox();
  symlinkSync('missing', box.at('dangling'));
  symlinkSync(box.outside, box.at('out'));
  expect(statPath(box.set, box.at('dangling'))).toMatchObject({ type: 'symlink', symlinkTarget: 'missing' });
  expect(statPath(box.set, box.at('out'))).toMatchObject({ type: 'symlink', symlinkTarget: box.outside });
  expect(() => statPath(box.set, box.at('out/secret.txt'))).toThrow(ForbiddenPathError);
});

test('what is missing does not exist, also below a file; what is outside is forbidden either way', () => {
  using box = makeSandbox();
  box.file('file');
  for (const path of ['missing', 'missing/x', 'file/x']) {
    expect(statPath(box.set, box.at(path))).toEqual({ path: box.at(path), exists: false });
  }
  expect(() => statPath(box.set, join(box.outside, 'secret.txt'))).toThrow(ForbiddenPathError);
  expect(() => statPath(box.set, join(box.outside, 'missing'))).toThrow(ForbiddenPathError);
});
