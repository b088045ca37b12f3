import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FilesError } from '../../../../src/host/files/path-errors.js';
import { copyPath } from '../../../../src/host/files/copy.js';
import { globPaths } from '../../../../src/host/files/glob.js';
import { listDirectory } from '../../../../src/host/files/list.js';
import { makeDirectory } from '../../../../src/host/files/make-directory.js';
import { movePath } from '../../../../src/host/files/move.js';
import { readFile } from '../../../../src/host/files/read.js';
import { removePath } from '../../../../src/host/files/remove.js';
import { statPath } from '../../../../src/host/files/stat.js';
import { writeFile } from '../../../../src/host/files/write.js';
import { runs } from '../../../helpers/runs.js';
import { startSwapper } from '../../../helpers/swapper.js';
import { makeSandbox, SECRET, type Sandbox, snapshot } from './sandbox.js';

const ROUNDS = runs(10_000, 2000);
/** An attack that was not felt by then proves nothing. */
const FELT_MS = 200_000;
const FELT = ['read', 'replace', 'append', 'list'];
const CONTROL_MS = 60_000;
const TIMEOUT_MS = 400_000;

/** Sizes that occur outside and nowhere else: a `stat` or `list` that shows one has looked outside. */
const OUTSIDE_SIZE = 9973;

test(
  `links swapped in and out during ${ROUNDS} calls let nothing in or out`,
  async () => {
    using box = makeSandbox();
    const pairs = prepare(box);
    const before = snapshot(box.outside);
    await using attacker = await startSwapper(pairs);
    provokeNaiveReader(box);

    const told = new Map<string, number>();
    const felt = (): boolean =>
      FELT.every((call) => told.has(`${call} done`) && told.has(`${call} ForbiddenPathError`));
    const end = Date.now() + FELT_MS;
    for (let round = 0; round < ROUNDS || (!felt() && Date.now() < end); round++) {
      const [call = '', action] = CALLS[round % CALLS.length] ?? [];
      const outcome = await attempt(() => action?.(box, round));
      for (const trace of [SECRET, 'only-outside', `"size":${OUTSIDE_SIZE}`]) {
        expect(outcome.said.includes(trace), `${call} in round ${round} told of the outside`).toBe(false);
      }
      const key = `${call} ${outcome.how}`;
      told.set(key, (told.get(key) ?? 0) + 1);
      if (call === 'copy') assertNoSecret(box);
      if (round % 100 === 0) await setImmediate(); // else the end of the attacker would go unnoticed
    }

    expect(attacker.isRunning()).toBe(true);
    await attacker[Symbol.asyncDispose]();
    expect(snapshot(box.outside)).toEqual(before);
    expect(snapshot(box.root).filter((line) => line.includes(SECRET))).toEqual([]);
    // The attack was felt: every call of the kind both succeeded and met the link.
    for (const call of FELT) {
      expect(told.get(`${call} done`), `${told.size} outcomes`).toBeGreaterThan(0);
      expect(told.get(`${call} ForbiddenPathError`), `${told.size} outcomes`).toBeGreaterThan(0);
    }
  },
  TIMEOUT_MS,
);

/** What was copied is looked at before it is removed again. */
function assertNoSecret(box: Sandbox): void {
  const paths = [box.at('copied/file.txt'), box.at('copied/only-outside'), box.at('copy')];
  const read = paths.filter((path) => existsSync(path)).map((path) => readFileSync(path, 'utf8'));
  expect(read.some((text) => text.includes(SECRET))).toBe(false);
}

type Call = readonly [string, (box: Sandbox, round: number) => unknown];

const CALLS: readonly Call[] = [
  ['read', (box) => readFile(box.set, box.at('dir/file.txt')).then((result) => result.data.toString())],
  ['read', (box) => readFile(box.set, box.at('file.txt')).then((result) => result.data.toString())],
  [
    'read',
    (box) => readFile(box.set, box.at('up/mid/low/file.txt')).then((result) => result.data.toString()),
  ],
  ['replace', (box, round) => write(box, 'dir/file.txt', round, {})],
  ['replace', (box, round) => write(box, 'file.txt', round, {})],
  ['replace', (box, round) => write(box, 'up/mid/low/file.txt', round, { mkdirParents: true })],
  ['in place', (box, round) => write(box, 'file.txt', round, { atomic: false })],
  ['append', (box, round) => write(box, 'dir/log', round, { mode: 'append' })],
  ['append', (box, round) => write(box, 'file.txt', round, { mode: 'append' })],
  [
    'create',
    (box, round) => write(box, `dir/new/${round % 5}`, round, { mode: 'create', mkdirParents: true }),
  ],
  ['list', (box) => listDirectory(box.set, box.at('dir'))],
  ['list', (box) => listDirectory(box.set, box.at('up'), { recursive: true })],
  ['glob', (box) => globPaths(box.set, box.root, '{dir,up}/**')],
  ['glob', (box) => globPaths(box.set, box.root, '*/*')],
  ['copy', (box) => copyPath(box.set, box.at('dir'), box.at('copied'), { durable: false })],
  ['remove', (box) => removePath(box.set, box.at('copied'), { recursive: true, durable: false })],
  [
    'copy',
    (box) => copyPath(box.set, box.at('file.txt'), box.at('copy'), { overwrite: true, durable: false }),
  ],
  [
    'move',
    (box) => movePath(box.set, box.at('dir/log'), box.at('up/mid/log'), { overwrite: true, durable: false }),
  ],
  ['remove', (box) => removePath(box.set, box.at('dir/new'), { recursive: true, durable: false })],
  [
    'mkdir',
    (box, round) =>
      makeDirectory(box.set, box.at(`up/mid/made/${round % 9}`), { parents: true, durable: false }),
  ],
  ['stat', (box) => statPath(box.set, box.at('dir/file.txt'))],
  ['stat', (box) => statPath(box.set, box.at('file.txt'))],
];

function write(box: Sandbox, path: string, round: number, options: object): Promise<unknown> {
  return writeFile(box.set, box.at(path), Buffer.from(`inside ${round}`), {
    durable: round % 512 === 3,
    ...options,
  });
}

async function attempt(action: () => unknown): Promise<{ how: string; said: string }> {
  try {
    return { how: 'done', said: JSON.stringify(await action()) };
  } catch (error) {
    if (!(error instanceof FilesError)) throw error;
    return { how: error.name, said: '' };
  }
}

/** The same tree inside and outside, and for each place of attack a link to take its place. */
function prepare(box: Sandbox): string[] {
  for (const [at, size] of [
    [box.root, 10],
    [box.outside, OUTSIDE_SIZE],
  ] as const) {
    const text = (at === box.root ? '' : SECRET).padEnd(size, '.');
    for (const directory of ['dir', 'up/mid/low']) {
      mkdirSync(join(at, directory), { recursive: true });
      writeFileSync(join(at, directory, 'file.txt'), text);
    }
    writeFileSync(join(at, 'file.txt'), text);
  }
  writeFileSync(join(box.outside, 'dir', 'only-outside'), SECRET);
  writeFileSync(join(box.outside, 'up', 'mid', 'only-outside'), SECRET);
  mkdirSync(box.at('.links'));
  return ['dir', 'file.txt', 'up/mid'].flatMap((path) => {
    const link = box.at('.links', path.replace('/', '-'));
    symlinkSync(join(box.outside, path), link);
    return [box.at(path), link];
  });
}

/** Proof that the attack works: a reader that checks first and reads then is fooled before long. */
function provokeNaiveReader(box: Sandbox): void {
  const end = Date.now() + CONTROL_MS;
  while (Date.now() < end) {
    try {
      if (
        statPath(box.set, box.at('dir/file.txt')).exists &&
        readFileSync(box.at('dir/file.txt'), 'utf8').startsWith(SECRET)
      )
        return;
    } catch {
      // Forbidden or missing at this moment.
    }
  }
  throw new Error('the attacker did not get anywhere: this test proves nothing');
}
