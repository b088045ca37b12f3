// The entries of a directory, or of the whole tree below it, in order and up to a cap.

import { lstatSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { type EntryType, typedError } from './errors.js';
import { cleanPath } from './names.js';
import { type Pin, typeOf } from './pin.js';
import {
  type DirectoryEntry,
  entryType,
  MAX_WALK_LEVELS,
  openChild,
  readDirectory,
} from './read-directory.js';
import type { RootSet } from './root-set.js';
import { Turns } from './turns.js';
import { pinDirectory } from './walk.js';

/** The most entries one list gives. */
export const MAX_LIST_ENTRIES = 100_000;

export interface ListOptions {
  readonly recursive?: boolean;
  /** The caller's own cap, at most MAX_LIST_ENTRIES. */
  readonly maxEntries?: number;
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
  using listing = new Listing(new Turns(options.signal), options);
  try {
    await listing.enter(pinDirectory(set, asked), asked);
    await listing.run();
  } catch (error) {
    throw typedError(error, asked);
  }
  return {
    path: asked,
    entries: listing.entries,
    truncated: listing.truncated,
    unreadable: listing.unreadable,
  };
}

interface Level {
  readonly directory: Pin;
  readonly prefix: string;
  readonly entries: readonly DirectoryEntry[];
  next: number;
}

class Listing implements Disposable {
  readonly entries: ListEntry[] = [];
  truncated = false;
  unreadable = 0;
  readonly #turns: Turns;
  readonly #max: number;
  readonly #recursive: boolean;
  readonly #levels: Level[] = [];

  constructor(turns: Turns, options: ListOptions) {
    this.#turns = turns;
    this.#max = Math.min(options.maxEntries ?? MAX_LIST_ENTRIES, MAX_LIST_ENTRIES);
    this.#recursive = options.recursive === true;
  }

  async run(): Promise<void> {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const entry = level.entries[level.next++];
      if (entry === undefined) {
        this.#levels.pop();
        level.directory[Symbol.dispose]();
      } else {
        const stat = look(level.directory, entry.name);
        if (stat === 'gone') continue;
        if (this.entries.length === this.#max) {
          this.truncated = true;
          return;
        }
        const path = level.prefix + entry.name;
        this.entries.push(describe(entry, path, stat));
        if (this.#recursive && stat?.isDirectory() === true)
          await this.#descend(level.directory, entry.name, path);
      }
      if (this.#turns.isOver) await this.#turns.pass();
    }
  }

  /** Takes the pin over: it is closed with the level, or right here if the directory cannot be read. */
  async enter(directory: Pin, path: string): Promise<void> {
    try {
      const { entries, truncated } = await readDirectory(directory, this.#turns);
      if (truncated) this.truncated = true;
      this.#levels.push({ directory, prefix: path === '/' ? '/' : `${path}/`, entries, next: 0 });
    } catch (error) {
      directory[Symbol.dispose]();
      throw error;
    }
  }

  async #descend(parent: Pin, name: string, path: string): Promise<void> {
    if (this.#levels.length === MAX_WALK_LEVELS) {
      this.truncated = true;
      return;
    }
    const child = openChild(parent, name);
    if (child === undefined) return; // removed or replaced since
    try {
      await this.enter(child, path);
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') throw error;
      this.unreadable += 1;
    }
  }

  [Symbol.dispose](): void {
    for (const level of this.#levels.splice(0)) level.directory[Symbol.dispose]();
  }
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
