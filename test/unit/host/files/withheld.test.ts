// Folders that nobody touches although they lie in a root.

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyPath } from '../../../../src/host/files/copy.js';
import { ForbiddenPathError } from '../../../../src/host/files/errors.js';
import { globPaths } from '../../../../src/host/files/glob.js';
import { listDirectory } from '../../../../src/host/files/list.js';
import { makeDirectory } from '../../../../src/host/files/make-directory.js';
import { movePath } from '../../../../src/host/files/move.js';
import { readFile } from '../../../../src/host/files/read.js';
import { removePath } from '../../../../src/host/files/remove.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { statPath } from '../../../../src/host/files/stat.js';
import { pinDirectory } from '../../../../src/host/files/walk.js';
import { Withheld } from '../../../../src/host/files/withheld.js';
import { writeFile } from '../../../../src/host/files/write.js';
import { makeSandbox, type Sandbox } from './sandbox.js';

let box: Sandbox;
let set: RootSet;
let state: string;
beforeEach(() => {
  box = makeSandbox();
  state = box.at('home', 'state', 'own');
  box.file('home/state/own/entry', 'secret');
  box.file('home/other', 'plain');
  box.file('tmp/own-1-x/spool', 'secret');
  box.file('tmp/own-but-not', 'plain');
  set = new RootSet([box.root], {
    withheld: new Withheld({
      folders: [state],
      nameless: { places: [box.at('tmp')], name: /^own-\d+-/ },
    }),
  });
});
afterEach(() => box[Symbol.dispose]());

const forbidden = async (action: () => unknown): Promise<void> => {
  await expect((async () => await action())()).rejects.toThrow(ForbiddenPathError);
};

test('what is withheld is outside for every call, by its name and through links', async () => {
  symlinkSync(state, box.at('link'));
  symlinkSync(box.at('home', 'state'), box.at('above'));
  for (const folder of [state, box.at('link'), box.at('above', 'own'), box.at('tmp', 'own-1-x')]) {
    const file = folder.includes('tmp') ? join(folder, 'spool') : join(folder, 'entry');
    await forbidden(() => readFile(set, file));
    await forbidden(() => statPath(set, file));
    await forbidden(() => listDirectory(set, folder));
    await forbidden(() => pinDirectory(set, folder));
    await forbidden(() => writeFile(set, join(folder, 'new'), Buffer.from('x')));
    await forbidden(() => makeDirectory(set, join(folder, 'new'), { parents: true }));
    await forbidden(() => copyPath(set, file, box.at('copy')));
    await forbidden(() => copyPath(set, box.at('home', 'other'), join(folder, 'new')));
    await forbidden(() => movePath(set, file, box.at('moved')));
    await forbidden(() => movePath(set, box.at('home', 'other'), file, { overwrite: true }));
    await forbidden(() => removePath(set, file));
  }
  await forbidden(() => removePath(set, state, { recursive: true }));
  expect(readdirSync(state)).toEqual(['entry']);
});

test('what is above it is neither moved nor removed nor copied onto', async () => {
  mkdirSync(box.at('tree', 'state', 'own'), { recursive: true });
  for (const above of [box.at('home'), box.at('home', 'state'), box.at('tmp')]) {
    await forbidden(() => movePath(set, above, box.at('elsewhere')));
    await forbidden(() => removePath(set, above, { recursive: true }));
    await forbidden(() => movePath(set, box.at('tree'), above, { overwrite: true }));
    await forbidden(() => copyPath(set, box.at('tree'), above));
  }
  expect(readFileSync(join(state, 'entry'), 'utf8')).toBe('secret');
});

test('where there is none yet, none is put', async () => {
  const missing = box.at('later', 'state', 'own');
  set = new RootSet([box.root], { withheld: new Withheld({ folders: [missing] }) });
  box.file('tree/state/own/forged', 'x');
  await forbidden(() => copyPath(set, box.at('tree'), box.at('later')));
  await forbidden(() => movePath(set, box.at('tree'), box.at('later')));
  await forbidden(() => makeDirectory(set, missing, { parents: true }));
  await forbidden(() => writeFile(set, missing, Buffer.from('x')));
  expect(existsSync(missing)).toBe(false);
  await makeDirectory(set, box.at('later', 'state', 'other'), { parents: true });
});

test('a walk from above passes it by', async () => {
  const { entries } = await listDirectory(set, box.root, { recursive: true });
  const names = entries.map(({ name }) => name);
  expect(names).toEqual(['home', 'other', 'state', 'tmp', 'own-but-not']);
  const found = await globPaths(set, box.root, '**/{entry,spool}');
  expect(found.matches).toEqual([]);
  expect((await globPaths(set, box.root, 'home/state/own/*')).matches).toEqual([]);
  expect((await globPaths(set, box.root, '*/*/*')).matches).toEqual([]);
  expect((await globPaths(set, box.root, 't*/*')).matches).toEqual([box.at('tmp', 'own-but-not')]);
});

test('a copy of what is beside it is made as ever', async () => {
  await copyPath(set, box.at('home'), box.at('copy'));
  expect(readdirSync(box.at('copy', 'state'))).toEqual([]);
  expect(readFileSync(box.at('copy', 'other'), 'utf8')).toBe('plain');
  writeFileSync(box.at('copy', 'state', 'own'), '');
  await removePath(set, box.at('copy'), { recursive: true });
});

test('a folder that is reached through a link is withheld where it really is', () => {
  symlinkSync(box.at('home'), box.at('away'));
  const withheld = new Withheld({ folders: [box.at('away', 'state', 'own', 'deep', 'er')] });
  expect(withheld.folders).toEqual([join(state, 'deep', 'er')]);
});

test('those that are there are listed, as far as they matter', () => {
  expect(set.withheld?.list(() => true)).toEqual([state, box.at('tmp', 'own-1-x')]);
  expect(set.withheld?.list((place) => place === state)).toEqual([state]);
});
