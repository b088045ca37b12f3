// The entries of a directory, or of the whole tree below it, in order and up to a cap.

import { lstatSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { type EntryType, typedError } from './errors.js';
import { cleanPath, toSystemPath } from './names.js';
import { type Pin, typeOf } from './pin.js';
import { type DirectoryEntry, entryType } from './read-directory.js';
import type { RootSet } from './root-set.js';
import { TreeWalk } from './tree-walk.js';
import { Turns } from './turns.js';
import { pinDirectory } from './walk.js';
import { within } from './within.js';

/** The most entries one list gives. */
export const MAX_LIST_ENTRIES = 100_000;
/** Entries that are looked at in one go: to enter a directory and leave it takes as long as to look at two. */
const LOOKS_AT_ONCE = 64;

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
  using walk = new TreeWalk<Looks>(set, turns);
  try {
    const directory = pinDirectory(set, asked);
    await walk.enter({
      directory,
      path: asked,
      state: new Looks(set),
      gitignore: options.gitignore === true,
    });
    const { entries, isFull } = await collect(set, walk, turns, options);
    return { path: asked, entries, truncated: isFull || walk.truncated, unreadable: walk.unreadable };
  } catch (error) {
    throw typedError(error, asked);
  }
}

async function collect(
  set: RootSet,
  walk: TreeWalk<Looks>,
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
    const { directory, prefix, state } = walk.level;
    const stat = state.at(entry, directory, walk);
    if (stat === 'gone') continue;
    if (entries.length === max) return { entries, isFull: true };
    entries.push(describe(entry, prefix + entry.name, stat));
    if (options.recursive === true && stat?.isDirectory() === true) {
      const opening = walk.descend(entry, new Looks(set));
      if (opening !== undefined) await opening;
    }
    if (walk.isTurnOver) await turns.pass();
  }
  return { entries, isFull: false };
}

type Look = Stats | 'gone' | undefined;

/** What was found of the next entries of a directory, many at a time. */
class Looks {
  readonly #set: RootSet;
  #entries: readonly DirectoryEntry[] = [];
  #found: readonly Look[] = [];
  #next = 0;

  constructor(set: RootSet) {
    this.#set = set;
  }

  at(entry: DirectoryEntry, directory: Pin, walk: TreeWalk<Looks>): Look {
    while (this.#next < this.#entries.length && this.#entries[this.#next] !== entry) this.#next += 1; // left out
    if (this.#next === this.#entries.length) {
      this.#entries = [entry, ...walk.upcoming(LOOKS_AT_ONCE - 1)];
      this.#found = this.#lookAll(directory, this.#entries);
      this.#next = 0;
    }
    return this.#found[this.#next++];
  }

  #lookAll(directory: Pin, entries: readonly DirectoryEntry[]): Look[] {
    if (this.#set.ownsWorkingDirectory && entries.length > 2) {
      try {
        return within(directory, () => entries.map(({ name }) => look(toSystemPath(name))));
      } catch (error) {
        if (errnoOf(error) !== 'EACCES') throw error; // may be read but not entered: told entry by entry
      }
    }
    return entries.map(({ name }) => look(directory.at(name)));
  }
}

function look(path: string | Buffer): Look {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? 'gone';
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
