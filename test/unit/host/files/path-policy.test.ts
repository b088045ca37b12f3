import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, posix } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NotAFileError } from '../../../../src/host/files/errors.js';
import { FilesError } from '../../../../src/host/files/path-errors.js';
import { readFile } from '../../../../src/host/files/read.js';
import { RootSet } from '../../../../src/host/files/root-set.js';
import { pin } from '../../../../src/host/files/walk.js';
import { writeFile } from '../../../../src/host/files/write.js';
import type { WriteOptions } from '../../../../src/host/files/write-options.js';
import { runs } from '../../../helpers/runs.js';
import { makeSandbox, type Sandbox, snapshot } from './sandbox.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

const RUNS = runs(10_000);
const TIMEOUT_MS = 300_000;

/** Two roots, a sibling that begins like one of them, and an outside, all with the same names inside. */
const PLACES = ['root', 'root/a', 'root/a/b', 'other', 'other/a', 'root2', 'root2/a', 'outside', 'outside/a'];
const LINK_NAMES = ['l', 'm', 'n'];
const NAMES = ['a', 'b', 'f', 'missing', '..', '.', '', ...LINK_NAMES];

const names = fc.array(fc.constantFrom(...NAMES), { maxLength: 5 });
const place = fc.constantFrom(...PLACES);
const spelling = fc.constantFrom('relative' as const, 'absolute' as const, 'proc' as const);
/** A link lies in a place and leads, in one of three spellings, from there or from another place along some names. */
const link = fc.record({
  at: place,
  name: fc.constantFrom(...LINK_NAMES),
  to: place,
  along: names,
  spelling,
});
type Link = typeof link extends fc.Arbitrary<infer T> ? T : never;
const query = fc.record({ from: fc.constantFrom(...PLACES, ''), along: names, slash: fc.boolean() });
const topology = fc.record({
  links: fc.array(link, { maxLength: 5 }),
  queries: fc.array(query, { minLength: 1, maxLength: 3 }),
});

test(
  'a path is allowed exactly if it really leads into a root, whatever links there are',
  async () => {
    using box = makeSandbox();
    const set = build(box);
    await fc.assert(
      fc.asyncProperty(topology, async ({ links, queries }) => {
        using made = makeLinks(box, links);
        expect(made.count).toBeLessThanOrEqual(links.length);
        for (const { from, along, slash } of queries) {
          const path = [join(box.base, from), ...along].join('/') + (slash ? '/' : '');
          const clean = posix.resolve(path);
          const expected = expectedOutcomes(set, clean);
          assertOneOf(await readOutcome(set, path), expected, path);
          assertOneOf(pinOutcome(set, clean), expected.map(withoutContent), path);
        }
      }),
      { numRuns: RUNS },
    );
  },
  TIMEOUT_MS,
);

test(
  'a write lands inside the roots or nowhere, whatever links there are',
  async () => {
    using box = makeSandbox();
    const set = build(box);
    const before = outsiders(box);
    const modes = fc.constantFrom('replace' as const, 'create' as const, 'append' as const);
    await fc.assert(
      fc.asyncProperty(
        topology,
        modes,
        fc.constantFrom(false, false, false, true),
        async ({ links, queries }, mode, mkdirParents) => {
          const { from, along } = queries[0] ?? { from: '', along: [] };
          const path = [join(box.base, from), ...along].join('/');
          let landed: string | undefined;
          {
            using made = makeLinks(box, links);
            expect(made.count).toBeLessThanOrEqual(links.length);
            const there = realFile(path);
            landed = await writeOutcome(set, path, { mode, mkdirParents, durable: false });
            const mustSucceed = there !== undefined && set.contains(there) && mode !== 'create';
            const mustFail = there !== undefined && (!set.contains(there) || mode === 'create');
            expect(landed === undefined || set.contains(landed)).toBe(true);
            expect(landed === undefined).toBe(mustFail || (landed === undefined && !mustSucceed));
          }
          if (landed !== undefined || mkdirParents) tidy(box);
          expect(outsiders(box)).toEqual(before);
        },
      ),
      { numRuns: runs(2500) },
    );
  },
  TIMEOUT_MS,
);

/** Plainer than `expect`, which is felt when it is asked tens of thousands of times. */
function assertOneOf(actual: string, expected: readonly string[], path: string): void {
  if (!expected.includes(actual)) throw new Error(`${path}: ${actual}, not ${expected.join(' or ')}`);
}

/** What a reader may be told of a path, by the word of the kernel's own realpath. */
function expectedOutcomes(set: RootSet, clean: string): string[] {
  const real = realOf(clean);
  if (real !== undefined) {
    if (!set.contains(real)) return ['ForbiddenPathError'];
    return [statSync(real).isFile() ? `file ${readFileSync(real, 'utf8')}` : 'directory'];
  }
  // Nothing there. In a directory out of bounds even that must not be told; a link is judged by where it leads.
  const parent = realOf(posix.dirname(clean));
  const isPlain = !isLink(clean);
  if (parent !== undefined && isPlain && !set.contains(parent)) return ['ForbiddenPathError'];
  if (parent !== undefined && isPlain && statSync(parent).isDirectory()) return ['NotFoundError'];
  return ['NotFoundError', 'NotADirectoryError', 'LinkLoopError', 'ForbiddenPathError'];
}

async function readOutcome(set: RootSet, path: string): Promise<string> {
  try {
    return `file ${(await readFile(set, path)).data.toString()}`;
  } catch (error) {
    if (error instanceof NotAFileError) return error.type === 'dir' ? 'directory' : error.type;
    return error instanceof FilesError ? error.name : `raw ${String(error)}`;
  }
}

function pinOutcome(set: RootSet, clean: string): string {
  try {
    using held = pin(set, clean);
    return held.stat().isFile() ? 'file' : 'directory';
  } catch (error) {
    return error instanceof FilesError ? error.name : `raw ${String(error)}`;
  }
}

function withoutContent(outcome: string): string {
  return outcome.startsWith('file ') ? 'file' : outcome;
}

/** Where the bytes really are, undefined if the write was refused. */
async function writeOutcome(set: RootSet, path: string, options: WriteOptions): Promise<string | undefined> {
  try {
    await writeFile(set, path, Buffer.from('new'), options);
  } catch (error) {
    if (error instanceof FilesError) return undefined;
    throw error;
  }
  const real = realpathSync.native(posix.resolve(path));
  if (!readFileSync(real, 'utf8').endsWith('new')) throw new Error(`${real} was not written`);
  return real;
}

function build(box: Sandbox): RootSet {
  for (const at of PLACES) {
    mkdirSync(join(box.base, at), { recursive: true });
    writeFileSync(join(box.base, at, 'f'), at);
  }
  return new RootSet([box.root, join(box.base, 'other')]);
}

/** Back to how `build` left the roots. */
function tidy(box: Sandbox): void {
  for (const at of ['root', 'other']) removeFolder(join(box.base, at));
  for (const at of PLACES.filter((candidate) => /^(root|other)(\/|$)/.test(candidate))) {
    mkdirSync(join(box.base, at), { recursive: true });
    writeFileSync(join(box.base, at, 'f'), at);
  }
}

function outsiders(box: Sandbox): string[] {
  return ['root2', 'outside'].flatMap((at) => snapshot(join(box.base, at)));
}

function makeLinks(box: Sandbox, wanted: readonly Link[]): Disposable & { count: number } {
  const made = wanted.map((link) => makeLink(box, link)).filter((path) => path !== undefined);
  return { count: made.length, [Symbol.dispose]: () => made.forEach((path) => unlinkSync(path)) };
}

function makeLink(box: Sandbox, wanted: Link): string | undefined {
  const directory = join(box.base, wanted.at);
  const target = [join(box.base, wanted.to), ...wanted.along].join('/');
  const relative = posix.relative(directory, join(box.base, wanted.to));
  const text = {
    absolute: target,
    proc: `/proc/self/root${target}`,
    relative: [relative === '' ? '.' : relative, ...wanted.along].join('/'),
  }[wanted.spelling];
  const path = join(directory, wanted.name);
  if (isLink(path)) return undefined;
  symlinkSync(text, path);
  return path;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function realOf(clean: string): string | undefined {
  try {
    return realpathSync.native(clean);
  } catch {
    return undefined;
  }
}

function realFile(path: string): string | undefined {
  const real = realOf(posix.resolve(path));
  return real !== undefined && statSync(real).isFile() ? real : undefined;
}
