// The entries of one pinned directory, sorted by name, bounded however many there are.

import { type Dirent, opendirSync, openSync, readdirSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import type { EntryType } from './errors.js';
import { decodeName, REPLACEMENT } from './names.js';
import { HOLD, HOLD_DIRECTORY, NO_FOLLOW, Pin } from './pin.js';
import type { Turns } from './turns.js';

/** Of one directory; what is beyond is left out and said to be. */
export const MAX_DIRECTORY_ENTRIES = 100_000;
/** How deep a walk goes below where it began: it holds a descriptor for each level. */
export const MAX_WALK_LEVELS = 256;

/** A directory file this large holds so many names that reading it at once would be felt by everybody else. */
const LARGE_DIRECTORY_BYTES = 1024 * 1024;
const LARGE_BATCH = 1000;
/** A character for each byte. Entries whose names are buffers are to be had from Node alone. */
const RAW = 'latin1';

export interface DirectoryEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export interface Entries {
  readonly entries: DirectoryEntry[];
  /** Names that did not fit are missing. */
  readonly truncated: boolean;
}

const LIMITS = { maxEntries: MAX_DIRECTORY_ENTRIES, largeBytes: LARGE_DIRECTORY_BYTES };

/** A promise for a large directory only: a tree has thousands of small ones, and each promise takes its time. */
export function readDirectory(directory: Pin, turns: Turns, limits = LIMITS): Entries | Promise<Entries> {
  const { maxEntries, largeBytes } = limits;
  return directory.stat().size > largeBytes
    ? readInBatches(directory, turns, maxEntries + 1).then((all) => inOrder(directory, all, maxEntries))
    : inOrder(directory, readAtOnce(directory), maxEntries);
}

export interface Names {
  readonly names: readonly string[];
  readonly truncated: boolean;
}

/** The same for who asks for names alone: no object for each of them, which is a fifth of the time. */
export function readNames(directory: Pin, turns: Turns, limits = LIMITS): Names | Promise<Names> {
  if (directory.withheld?.isNear(directory.real) !== true && directory.stat().size <= limits.largeBytes) {
    const names = readdirSync(directory.here);
    if (names.length <= limits.maxEntries && names.every(isPlainName))
      return { names: isSorted(names) ? names : names.sort(), truncated: false };
  }
  const read = readDirectory(directory, turns, limits);
  return read instanceof Promise ? read.then(namesOf) : namesOf(read);
}

function namesOf({ entries, truncated }: Entries): Names {
  return { names: entries.map(({ name }) => name), truncated };
}

function isPlainName(name: string): boolean {
  return !name.includes(REPLACEMENT);
}

/** As they mostly come, and to see that is quicker than to sort. */
function isSorted(names: readonly string[]): boolean {
  for (let i = 1; i < names.length; i++) {
    if ((names[i - 1] as string) > (names[i] as string)) return false;
  }
  return true;
}

function inOrder(directory: Pin, all: DirectoryEntry[], maxEntries: number): Entries {
  const entries = withoutWithheld(directory, all);
  const truncated = entries.length > maxEntries;
  if (truncated) entries.length = maxEntries;
  return { entries: entries.sort(byName), truncated };
}

/** A directory inside a pinned one; undefined if there is none of that name for us, or a link instead. */
export function openChild(parent: Pin, name: string): Pin | undefined {
  const real = join(parent, name);
  if (parent.withheld?.has(real) === true) return undefined;
  try {
    return new Pin(openSync(parent.at(name), HOLD_DIRECTORY | NO_FOLLOW), real, parent.withheld);
  } catch (error) {
    if (NOT_A_DIRECTORY.has(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Whatever has that name in a pinned directory, a link as a link. */
export function openEntry(parent: Pin, name: string): Pin {
  const fd = openSync(parent.at(name), HOLD | NO_FOLLOW);
  return new Pin(fd, join(parent, name), parent.withheld);
}

function join(parent: Pin, name: string): string {
  return parent.real === '/' ? `/${name}` : `${parent.real}/${name}`;
}

function withoutWithheld(directory: Pin, entries: DirectoryEntry[]): DirectoryEntry[] {
  const { withheld } = directory;
  if (withheld?.isNear(directory.real) !== true) return entries;
  return entries.filter(({ name }) => !withheld.has(join(directory, name)));
}

const NOT_A_DIRECTORY = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES']);

export function entryType(entry: DirectoryEntry): EntryType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'dir';
  return entry.isSymbolicLink() ? 'symlink' : 'other';
}

function readAtOnce(directory: Pin): DirectoryEntry[] {
  const entries = readdirSync(directory.here, { withFileTypes: true });
  // The replacement character is the sign that a name may not be UTF-8, and has to be had as bytes.
  const raw = entries.some((entry) => entry.name.includes(REPLACEMENT));
  return raw ? readdirSync(directory.here, { withFileTypes: true, encoding: RAW }).map(decodeEntry) : entries;
}

async function readInBatches(directory: Pin, turns: Turns, most: number): Promise<DirectoryEntry[]> {
  const handle = opendirSync(directory.here, {
    encoding: RAW,
    bufferSize: LARGE_BATCH,
  });
  try {
    const entries: DirectoryEntry[] = [];
    for (let entry = handle.readSync(); entry !== null && entries.length < most; entry = handle.readSync()) {
      entries.push(decodeEntry(entry));
      if (turns.isOver) await turns.pass();
    }
    return entries;
  } finally {
    handle.closeSync();
  }
}

function decodeEntry(entry: Dirent): DirectoryEntry {
  return {
    name: decodeName(Buffer.from(entry.name, RAW)),
    isFile: () => entry.isFile(),
    isDirectory: () => entry.isDirectory(),
    isSymbolicLink: () => entry.isSymbolicLink(),
  };
}

function byName(a: DirectoryEntry, b: DirectoryEntry): number {
  return a.name < b.name ? -1 : 1;
}
