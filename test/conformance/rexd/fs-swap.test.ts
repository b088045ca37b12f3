// A long attack: folders and files swapped for links that lead out, as fast as another process can, while every method
// of fs.* works with them. In the same test a reader that checks first and reads then is shown to be fooled.

import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runs } from '../../helpers/runs.js';
import { startSwapper } from '../../helpers/swapper.js';
import { verifies } from '../kit/verifies.js';
import { type FilesUnderTest, startFiles } from './fs-client.js';

vi.setConfig({ testTimeout: 300_000 });

const ATTACK_MS = runs(30_000, 8000);
/** An attack that was not felt by then proves nothing. */
const LONGEST_MS = 180_000;
const SECRET = 'what is outside must stay outside';
/** A size that occurs outside and nowhere else: a `stat` or `list` that shows it has looked outside. */
const OUTSIDE_BYTES = 9973;
const TRACES = [SECRET, 'only-outside', `"size":${OUTSIDE_BYTES}`];

const DONE = ['fs.read', 'fs.write', 'fs.list', 'fs.glob', 'fs.search', 'fs.stat', 'fs.edit'];
const MET = ['fs.read', 'fs.write', 'fs.list', 'fs.edit', 'fs.search'];

verifies('rexd/roots/swap-soak', async () => {
  await using files = await startFiles();
  const pairs = plant(files);
  const { outside, root } = files.rexd.grounds;
  const before = contentBelow(outside);
  await using attacker = await startSwapper(pairs);
  const told = new Map<string, number>();
  let fooled = 0;
  const felt = (): boolean =>
    fooled > 0 &&
    DONE.every((each) => told.has(`${each} done`)) &&
    MET.every((each) => told.has(`${each} -32002`));
  const start = performance.now();
  const isOver = (ms: number): boolean => ms > LONGEST_MS || (ms > ATTACK_MS && felt());
  for (let round = 0; !isOver(performance.now() - start); round++) {
    const calls = requests(round);
    for (const [i, [method, params]] of calls.entries()) {
      const message = { jsonrpc: '2.0', id: i, method, params: { session_id: files.session, ...params } };
      files.rexd.write(`${JSON.stringify(message)}\n`);
    }
    fooled += checkThenRead(root);
    for (const _ of calls) {
      const line = (await files.rexd.line(60_000)) ?? '';
      const { id, error } = JSON.parse(line) as { id: number; error?: { code: number } };
      const method = calls[id]?.[0] ?? '';
      for (const trace of TRACES)
        expect(line.includes(trace), `${method} told ${line.slice(0, 300)}`).toBe(false);
      const outcome = `${method} ${error?.code ?? 'done'}`;
      told.set(outcome, (told.get(outcome) ?? 0) + 1);
    }
  }
  expect(attacker.isRunning()).toBe(true);
  await attacker[Symbol.asyncDispose]();
  expect(contentBelow(outside)).toEqual(before);
  expect(contentBelow(root).filter((text) => text.includes(SECRET))).toEqual([]);
  expect(fooled, 'a careless reader leaks: the attack is real').toBeGreaterThan(0);
  // The attack was felt: each of these both succeeded and met the link.
  for (const method of DONE) {
    expect(told.get(`${method} done`), [...told].join(' ')).toBeGreaterThan(0);
  }
  for (const method of MET) {
    expect(told.get(`${method} -32002`), [...told].join(' ')).toBeGreaterThan(0);
  }
});

function requests(round: number): [string, object][] {
  const content = `inside ${round}`;
  const add = `*** Begin Patch\n*** Add File: up/mid/added${round % 7}\n+x\n*** End Patch`;
  const change = `*** Begin Patch\n*** Update File: dir/file.txt\n@@\n-inside\n+inside\n+inside\n*** End Patch`;
  return [
    ['fs.read', { path: 'dir/file.txt' }],
    ['fs.read', { path: 'file.txt' }],
    ['fs.read', { path: 'up/mid/low/file.txt' }],
    ['fs.write', { path: 'dir/file.txt', content }],
    ['fs.write', { path: 'file.txt', content, atomic: false }],
    ['fs.write', { path: 'dir/log', content: 'x', mode: 'append' }],
    ['fs.write', { path: `up/mid/new/${round % 5}`, content, mode: 'create', mkdir_parents: true }],
    ['fs.list', { path: 'dir' }],
    ['fs.list', { path: 'up', recursive: true }],
    ['fs.glob', { pattern: '{dir,up}/**' }],
    ['fs.glob', { pattern: '*/*' }],
    ['fs.glob', { pattern: '*/*', gitignore: true }],
    ['fs.search', { query: 'stay', path: 'dir' }],
    ['fs.search', { query: 'outside', gitignore: false }],
    ...(round % 50 === 0
      ? ([['fs.search', { query: 'st.y', path: 'up', regex: true }]] as [string, object][])
      : []),
    ['fs.stat', { path: 'dir/file.txt' }],
    ['fs.stat', { path: 'file.txt' }],
    ['fs.edit', { path: 'dir/file.txt', old_string: 'inside', new_string: 'Inside' }],
    ['fs.edit', { path: 'file.txt', old_string: '', new_string: content }],
    ['fs.patch', { patch_text: round % 2 === 0 ? add : change }],
    ['fs.mkdir', { path: `up/mid/made/${round % 9}`, parents: true }],
    ['fs.copy', { from: 'dir', to: `copy${round % 3}`, recursive: true }],
    ['fs.copy', { from: 'file.txt', to: 'copied', overwrite: true }],
    ['fs.read', { path: 'copied' }],
    ['fs.read', { path: `copy${round % 3}/file.txt` }],
    ['fs.remove', { path: `copy${(round + 1) % 3}`, recursive: true }],
    ['fs.move', { from: 'dir/log', to: 'up/mid/log', overwrite: true }],
    ['fs.move', { from: 'up/mid/made', to: 'dir/made' }],
    ['fs.remove', { path: 'dir/made', recursive: true }],
    ['fs.remove', { path: 'up/mid/new', recursive: true }],
  ];
}

/** The same tree inside and outside, and for each place of attack a link to take its place. */
function plant(files: FilesUnderTest): string[] {
  const { root, outside } = files.rexd.grounds;
  for (const [at, text] of [
    [root, 'inside\n'],
    [outside, SECRET.padEnd(OUTSIDE_BYTES, '.')],
  ] as const) {
    for (const folder of ['dir', 'up/mid/low']) {
      mkdirSync(join(at, folder), { recursive: true });
      writeFileSync(join(at, folder, 'file.txt'), text);
    }
    writeFileSync(join(at, 'file.txt'), text);
  }
  for (const folder of ['dir', 'up/mid']) writeFileSync(join(outside, folder, 'only-outside'), SECRET);
  mkdirSync(join(root, '.links'));
  return ['dir', 'file.txt', 'up/mid'].flatMap((path) => {
    const link = join(root, '.links', path.replace('/', '-'));
    symlinkSync(join(outside, path), link);
    return [join(root, path), link];
  });
}

/** As a server would do it that trusts a path it has just looked at. */
function checkThenRead(root: string): number {
  let leaks = 0;
  for (let i = 0; i < 20; i++) {
    try {
      const path = join(root, 'dir/file.txt');
      if (realpathSync(path).startsWith(`${root}/`) && readFileSync(path, 'utf8').includes(SECRET))
        leaks += 1;
    } catch {
      // Not there at this moment.
    }
  }
  return leaks;
}

/** Every file below a folder with its path and content; links are not followed. */
function contentBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path} ${readFileSync(path, 'latin1')}` : path;
    })
    .sort();
}
