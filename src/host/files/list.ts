// The entries of a directory, or of the whole tree below it, in order and up to a cap.

import { lstatSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { type EntryType, typedError } from './errors.js';
import { cleanPath } from './names.js';
import { type Pin, typeOf } from './pin.js';
import { type DirectoryEntry, entryType } from './read-directory.js';
import type { RootSet } from './root-set.js';
import { TreeWalk } from './tree-walk.js';
import { Turns } from './turns.js';
import { pinDirectory } from './walk.js';

/** The most entries one list gives. */
export const MAX_LIST_ENTRIES = 100_000;

export interface ListOptions {
  readonly recursive?: boolean;
  /** The caller's own cap, at most MAX_LIST_ENTRIES. */
  readonly maxEntries?: number;
  /** Leave out what .gitignore files name, and `.git`. */
  readonly gitignore?: boolean;
  readonly signal?: AbortSignal;
}

interface ListEntry {
  readonly name: string;
  readonly path: string;
  readonly type: EntryType;
  /** Of files and links; undefined for directories, and where the directory may be read but not searched. */
  readonly size: number | undefined;
  readonly mtimeMs: number | undefined;
}

export interface ListResult {
  readonly path: string;
  /** Depth first: a directory, what is in it, the next name. Links are shown, never followed. */
  readonly entries: readonly ListEntry[];
  /** There is more than was given: the cap, a directory with too many names, or a tree too deep. */
  readonly truncated: boolean;
  /** Directories below that may not be read. */
  readonly unreadable: number;
}

export async function listDirectory(
  set: RootSet,
  path: string,
  options: ListOptions = {},
): Promise<ListResult> {
  const asked = cleanPath(path);
  const turns = new Turns(options.signal);
  using walk = new TreeWalk<undefined>(set, turns);
  try {
    const directory = pinDirectory(set, asked);
    await walk.enter({ directory, path: asked, state: undefined, gitignore: options.gitignore === true });
    const { entries, isFull } = await collect(walk, turns, options);
    return { path: asked, entries, truncated: isFull || walk.truncated, unreadable: walk.unreadable };
  } catch (error) {
    throw typedError(error, asked);
  }
}

async function collect(
  walk: TreeWalk<undefined>,
  turns: Turns,
  options: ListOptions,
): Promise<{ entries: ListEntry[]; isFull: boolean }> {
  const max = Math.min(options.maxEntries ?? MAX_LIST_ENTRIES, MAX_LIST_ENTRIES);
  const entries: ListEntry[] = [];
  for (let entry = walk.advance(); entry !== undefined; entry = walk.advance()) {
    if (entry === 'pause') {
      await turns.pass();
      continue;
    }
    const { directory, prefix } = walk.level;
    const stat = look(directory, entry.name);
    if (stat === 'gone') continue;
    if (entries.length === max) return { entries, isFull: true };
    entries.push(describe(entry, prefix + entry.name, stat));
    if (options.recursive === true && stat?.isDirectory() === true) await walk.descend(entry, undefined);
    if (walk.isTurnOver) await turns.pass();
  }
  return { entries, isFull: false };
}

function look(directory: Pin, name: string): Stats | 'gone' | undefined {
  try {
    return lstatSync(directory.at(name), { throwIfNoEntry: false }) ?? 'gone';
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return undefined; // may be read but not searched: names without facts
    throw error;
  }
}

function describe(entry: DirectoryEntry, path: string, stat: Stats | undefined): ListEntry {
  const type = stat === undefined ? entryType(entry) : typeOf(stat);
  const size = type === 'dir' ? undefined : stat?.size;
  return { name: entry.name, path, type, size, mtimeMs: stat && Math.floor(stat.mtimeMs) };
}
