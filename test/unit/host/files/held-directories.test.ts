import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ForbiddenPathError } from '../../../../src/host/files/errors.js';
import { HELD_MS, MAX_HELD_DIRECTORIES } from '../../../../src/host/files/held-directories.js';
import { readFile } from '../../../../src/host/files/read.js';
import { statPath } from '../../../../src/host/files/stat.js';
import { until } from '../../../helpers/wait.js';
import { makeSandbox } from './sandbox.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

test('a directory that was moved away and replaced is seen as it is now', async () => {
  using box = makeSandbox();
  mkdirSync(box.at('d'));
  box.file('d/f', 'old');
  expect((await readFile(box.set, box.at('d/f'))).data.toString()).toBe('old');
  renameSync(box.at('d'), box.at('gone'));
  mkdirSync(box.at('d'));
  box.file('d/f', 'newer');
  expect(statPath(box.set, box.at('d/f'))).toMatchObject({ size: 5 });
  expect((await readFile(box.set, box.at('d/f'))).data.toString()).toBe('newer');
});

test('a directory that becomes a link to the outside is refused at once', async () => {
  using box = makeSandbox();
  mkdirSync(box.at('d'));
  box.file('d/secret.txt', 'mine');
  expect(statPath(box.set, box.at('d/secret.txt'))).toMatchObject({ exists: true });
  renameSync(box.at('d'), box.at('gone'));
  symlinkSync(box.outside, box.at('d'));
  expect(() => statPath(box.set, box.at('d/secret.txt'))).toThrow(ForbiddenPathError);
  await expect(readFile(box.set, box.at('d/secret.txt'))).rejects.toThrow(ForbiddenPathError);
});

test('a held directory that was carried out of the roots is refused', () => {
  using box = makeSandbox();
  mkdirSync(box.at('d'));
  box.file('d/f');
  expect(statPath(box.set, box.at('d/f'))).toMatchObject({ exists: true });
  renameSync(box.at('d'), join(box.outside, 'd'));
  expect(statPath(box.set, box.at('d/f'))).toEqual({ path: box.at('d/f'), exists: false });
});

test('what has been removed with its directory does not exist', () => {
  using box = makeSandbox();
  mkdirSync(box.at('d'));
  box.file('d/f');
  statPath(box.set, box.at('d/f'));
  removeFolder(box.at('d'));
  expect(statPath(box.set, box.at('d/f'))).toMatchObject({ exists: false });
});

test('a file that becomes a link is described as one, and read where it leads', async () => {
  using box = makeSandbox();
  box.file('a', 'one');
  box.file('b', 'two!');
  expect(statPath(box.set, box.at('a'))).toMatchObject({ type: 'file' });
  rmSync(box.at('a'));
  symlinkSync('b', box.at('a'));
  expect(statPath(box.set, box.at('a'))).toMatchObject({ type: 'symlink', symlinkTarget: 'b' });
  expect((await readFile(box.set, box.at('a'))).data.toString()).toBe('two!');
});

test(`at most ${MAX_HELD_DIRECTORIES} directories are held, and none for longer than ${HELD_MS} ms`, async () => {
  using box = makeSandbox();
  const held = (): number => openDescriptors().length;
  const before = held();
  for (let i = 0; i < MAX_HELD_DIRECTORIES * 3; i++) {
    mkdirSync(box.at(`d${i}`));
    writeFileSync(box.at(`d${i}/f`), '');
    expect(statPath(box.set, box.at(`d${i}/f`))).toMatchObject({ exists: true });
    expect(held() - before).toBeLessThanOrEqual(MAX_HELD_DIRECTORIES + 1); // and one for the mount's number
  }
  await until(() => held() - before <= 1, 'the directories are given back');
});

function openDescriptors(): string[] {
  return readdirSync('/proc/self/fd');
}
