import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newAbort } from '../../../../src/base/abort.js';
import { findHome } from '../../../../src/hugind/home.js';
import {
  addFiles,
  MAX_DOWNLOADS_AT_ONCE,
  PROGRESS_EVERY_MS,
} from '../../../../src/hugind/models/add-files.js';
import { partsOfSplit } from '../../../../src/hugind/models/split-files.js';
import { MAX_REPO_ENTRIES, ModelStore } from '../../../../src/hugind/models/store.js';
import { Turns } from '../../../../src/hugind/turns.js';
import { FakeHub, sendFile } from '../../../helpers/hub.js';
import { makeScratch } from '../../../helpers/scratch.js';
import { until } from '../../../helpers/wait.js';

test('only whole models of plain folders are listed', async () => {
  const root = makeScratch();
  for (const folder of ['u/whole', 'u/part', 'u/text', '.u/hidden', 'u/deep/a/b'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of [
    'u/whole/a.gguf',
    'u/part/.a.gguf.part',
    'u/text/a.txt',
    '.u/hidden/a.gguf',
    'u/deep/a/b/M.GGUF',
    'u/stray.gguf',
  ])
    writeFileSync(join(root, file), 'x');
  symlinkSync('/', join(root, 'u/whole/way-out'));
  const store = new ModelStore(root);
  expect((await store.list()).map(({ name }) => name)).toEqual(['u/deep', 'u/whole']);
  expect((await store.show('u/deep')).map(({ name }) => name)).toEqual(['a/b/M.GGUF']);
  expect(() => store.placeOf('u/whole', 'way-out/etc/x')).toThrow('no folder of the store');
  expect(await new ModelStore(join(root, 'none')).list()).toEqual([]);
});

test('of a folder with more files than any repository has, so many are looked at', async () => {
  const root = makeScratch();
  mkdirSync(join(root, 'u/r'), { recursive: true });
  for (let i = 0; i < MAX_REPO_ENTRIES + 5; i++) writeFileSync(join(root, 'u/r', `${i}.gguf`), '');
  expect(await new ModelStore(root).show('u/r')).toHaveLength(MAX_REPO_ENTRIES);
});

test('split models: the first part stands for all, any other for itself', () => {
  expect(partsOfSplit('x/m-00001-of-00002.gguf')).toEqual([
    'x/m-00001-of-00002.gguf',
    'x/m-00002-of-00002.gguf',
  ]);
  expect(partsOfSplit('m-00002-of-00003.gguf')).toEqual(['m-00002-of-00003.gguf']);
  expect(partsOfSplit('m.gguf')).toEqual(['m.gguf']);
  expect(() => partsOfSplit('m-00001-of-99999.gguf')).toThrow('parts');
});

test('so many files come at once, and of each progress is told at its beginning, its end, and seldom between', async () => {
  const bytes = Buffer.alloc(500_000, 3);
  const names = Array.from({ length: MAX_DOWNLOADS_AT_ONCE + 2 }, (_, i) => `${i}.gguf`);
  await using hub = await FakeHub.start(Object.fromEntries(names.map((name) => [name, bytes])));
  const held: (() => void)[] = [];
  let most = 0;
  hub.behave = (_, res, asked) => {
    if (!asked.path.includes('/resolve/')) return false;
    held.push(() => sendFile(res, bytes, asked));
    most = Math.max(most, held.length);
    return true;
  };
  const events: { event: string; data: Readonly<Record<string, unknown>> }[] = [];
  const home = findHome({ HUGIND_HOME: makeScratch() });
  const startMs = performance.now();
  const adding = addFiles(
    {
      hub: { endpoint: hub.url, token: undefined },
      store: new ModelStore(home.models),
      repo: 'u/r',
      files: names,
    },
    {
      home,
      env: {},
      turns: new Turns(),
      signal: newAbort().signal,
      emit: (event, data) => events.push({ event, data }),
    },
  );
  await until(() => held.length === MAX_DOWNLOADS_AT_ONCE, 'the first to be asked for');
  let answered = 0;
  while (answered < names.length) {
    await until(() => held.length > 0, 'another to be asked for');
    held.shift()?.();
    answered += 1;
  }
  expect(await adding).toEqual(names);
  const tookMs = performance.now() - startMs;
  expect(most).toBe(MAX_DOWNLOADS_AT_ONCE);
  for (const name of names) {
    const steps = events.filter(({ event, data }) => event === 'progress' && data['file'] === name);
    expect(steps[0]?.data).toMatchObject({ downloaded: 0 });
    expect(steps.at(-1)?.data).toMatchObject({ downloaded: bytes.length });
    // All but the last, which is told whenever it comes, are so far apart: no more of them fit into the whole time.
    expect(steps.length - 1).toBeLessThanOrEqual(1 + tookMs / PROGRESS_EVERY_MS);
  }
});
