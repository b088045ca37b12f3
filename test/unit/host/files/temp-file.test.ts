import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { newAsideName, newTempName, TEMP_PREFIX } from '../../../../src/host/files/temp-file.js';
import {
  ASIDE_SUFFIX,
  MAX_SWEPT_DIRECTORIES,
  MAX_SWEPT_ENTRIES,
  MAX_UNKNOWN_AGE_MS,
} from '../../../../src/host/files/temp-sweep.js';
import { writeFile } from '../../../../src/host/files/write.js';
import { formatOwner, type LockOwner, newOwner } from '../../../../src/host/store/lock-owner.js';
import { asNobody, makeSandbox, type Sandbox } from './sandbox.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

/** No process has a number this high. */
const NO_PID = 4_194_305;
const data = Buffer.from('x');

const nameOf = (owner: Partial<LockOwner>): string => TEMP_PREFIX + formatOwner({ ...newOwner(), ...owner });
const write = (box: Sandbox, path: string): Promise<unknown> =>
  writeFile(box.set, box.at(path), data, { mkdirParents: true, durable: false });

/** A file last touched so long ago. */
function plant(box: Sandbox, name: string, ageMs: number): string {
  const when = (Date.now() - ageMs) / 1000;
  utimesSync(box.file(name, data), when, when);
  return name;
}

/** The sandbox takes a temporary file for one of ours that was forgotten. */
function tidy(box: Sandbox, names: readonly string[]): void {
  for (const name of names) rmSync(box.at(name));
}

test('a write removes what writers that were killed have left, and nothing else', async () => {
  using box = makeSandbox();
  const elsewhere = { namespace: '1', boot: 'b'.repeat(12), machine: 'c'.repeat(12) };
  mkdirSync(box.at('d'));
  plant(box, `d/${nameOf({ pid: NO_PID })}`, 0);
  plant(box, `d/${nameOf({ startTicks: 1 })}`, 0); // our number, but another start
  plant(box, `d/${nameOf({ boot: 'b'.repeat(12) })}`, 0); // before this machine was started again
  plant(box, `d/${nameOf(elsewhere)}`, MAX_UNKNOWN_AGE_MS + 60_000);
  symlinkSync('nowhere', box.at(`d/${nameOf({ pid: NO_PID })}`));
  const stays = [
    plant(box, `d/${newTempName()}`, 2 * MAX_UNKNOWN_AGE_MS),
    plant(box, `d/${nameOf(elsewhere)}`, MAX_UNKNOWN_AGE_MS - 60_000),
    plant(box, `d/${TEMP_PREFIX}notes`, 2 * MAX_UNKNOWN_AGE_MS),
    plant(box, `d/x${nameOf({ pid: NO_PID })}`, 0),
  ];
  await write(box, 'd/file');
  expect(
    readdirSync(box.at('d'))
      .map((name) => `d/${name}`)
      .sort(),
  ).toEqual([...stays, 'd/file'].sort());
  tidy(box, stays);
});

test('a folder is looked through once, not at every write', async () => {
  using box = makeSandbox();
  await write(box, 'd/first');
  const left = plant(box, `d/${nameOf({ pid: NO_PID })}`, 0);
  await write(box, 'd/second');
  expect(readdirSync(box.at('d'))).toContain(left.slice(2));
  for (let i = 0; i < MAX_SWEPT_DIRECTORIES; i++) await write(box, `other/${i}/file`);
  await write(box, 'd/third'); // forgotten meanwhile
  expect(readdirSync(box.at('d')).sort()).toEqual(['first', 'second', 'third']);
});

test('of a folder with very many names only so many are looked at', async () => {
  using box = makeSandbox();
  for (let i = 0; i < MAX_SWEPT_ENTRIES + 50; i++) box.file(`d/${nameOf({ pid: NO_PID })}`, data);
  await write(box, 'd/file');
  const left = readdirSync(box.at('d')).filter((name) => name !== 'file');
  expect(left).toHaveLength(50);
  tidy(
    box,
    left.map((name) => `d/${name}`),
  );
});

test('a folder that may be written but not read is written', async () => {
  using box = makeSandbox();
  mkdirSync(box.at('d'));
  chmodSync(box.at('d'), 0o300);
  await asNobody(box, () => write(box, 'd/file'));
  expect(readdirSync(box.at('d'))).toEqual(['file']);
});

test('a write puts back what a killed process had put aside, and never over what is there now', async () => {
  using box = makeSandbox();
  const dead = nameOf({ pid: NO_PID }) + ASIDE_SUFFIX;
  const alive = newAsideName();
  const long = 'n'.repeat(255);
  for (const name of ['a', long, 'taken']) box.file(`d/${dead}/${name}`, 'was aside');
  symlinkSync('nowhere', box.at(`d/${dead}/link`));
  box.file('d/taken', 'newer');
  box.file(`d/${alive}/b`, 'of a patch under way');
  await write(box, 'd/file');
  expect(readFileSync(box.at('d/a'), 'utf8')).toBe('was aside');
  expect(readFileSync(box.at('d', long), 'utf8')).toBe('was aside');
  expect(readlinkSync(box.at('d/link'))).toBe('nowhere');
  expect(readFileSync(box.at('d/taken'), 'utf8')).toBe('newer');
  expect(readdirSync(box.at('d', dead))).toEqual(['taken']);
  expect(readdirSync(box.at('d', alive))).toEqual(['b']);
  for (const name of [dead, alive]) removeFolder(box.at('d', name));
});
