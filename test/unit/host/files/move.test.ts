import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TooLargeError } from '../../../../src/host/files/errors.js';
import { movePath } from '../../../../src/host/files/move.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { makeSandbox } from './sandbox.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const OTHER_FILE_SYSTEM = '/dev/shm';

const THINGS: Readonly<Record<string, (path: string) => void>> = {
  'a file': (path) => writeFileSync(path, 'content'),
  'a link': (path) => symlinkSync('nowhere', path),
  'an empty directory': (path) => mkdirSync(path),
  'a full directory': (path) => mkdirSync(join(path, 'inner'), { recursive: true }),
};
const PAIRS = Object.keys(THINGS).flatMap((from) => Object.keys(THINGS).map((to) => [from, to] as const));

/** The error of the rename call, if there is one. */
function failureOf(from: string, to: string): string | undefined {
  const [fromDirectory, toDirectory] = [from.endsWith('directory'), to.endsWith('directory')];
  if (fromDirectory && toDirectory) return to === 'a full directory' ? 'NotEmptyError' : undefined;
  if (fromDirectory) return 'NotADirectoryError';
  return toDirectory ? 'NotAFileError' : undefined;
}

/** What it is, and what is in it. */
function shapeOf(path: string): unknown {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'nothing';
  if (stat.isSymbolicLink()) return { link: readlinkSync(path) };
  return stat.isDirectory() ? { names: readdirSync(path) } : { text: readFileSync(path, 'utf8') };
}

let other: string;
afterEach(() => removeFolder(other));

describe.each([
  ['on one file system', tmpdir()],
  ['between file systems', OTHER_FILE_SYSTEM],
])('a move that may overwrite, %s', (_where, place) => {
  beforeEach((context) => {
    if (!existsSync(place)) context.skip('no second file system here');
    other = mkdtempSync(join(place, 'hawser-files-'));
  });

  test.each(PAIRS)('of %s onto %s does what rename does', async (from, to) => {
    using box = makeSandbox();
    const target = join(other, 'to');
    THINGS[from]?.(box.at('from'));
    THINGS[to]?.(target);
    const before = { from: shapeOf(box.at('from')), to: shapeOf(target) };
    const moving = movePath(new RootSet([box.root, other]), box.at('from'), target, { overwrite: true });
    const failure = failureOf(from, to);
    const thrown: unknown = await moving.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect((thrown as Error | undefined)?.name).toBe(failure);
    expect({ from: shapeOf(box.at('from')), to: shapeOf(target) }).toEqual(
      failure === undefined ? { from: 'nothing', to: before.from } : before,
    );
    expect(readdirSync(other)).toEqual(['to']);
  });
});

test('a directory that cannot be copied leaves the empty one it was to replace', async (context) => {
  if (!existsSync(OTHER_FILE_SYSTEM)) context.skip('no second file system here');
  other = mkdtempSync(join(OTHER_FILE_SYSTEM, 'hawser-files-'));
  using box = makeSandbox();
  box.file('tree/a', 'content');
  mkdirSync(join(other, 'to'), 0o750);
  const set = new RootSet([box.root, other]);
  await expect(
    movePath(set, box.at('tree'), join(other, 'to'), { overwrite: true, maxEntries: 1 }),
  ).rejects.toThrow(TooLargeError);
  expect(statSync(join(other, 'to')).mode & 0o777).toBe(0o750);
  expect(readFileSync(box.at('tree/a'), 'utf8')).toBe('content');
});
