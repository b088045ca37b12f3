// The walk below a directory that list, glob and search have in common: depth first by name, every directory pinned
// while it is being walked, in turns, bounded in depth.
//
// It is pulled, not pushed: `advance` gives the next entry and costs no promise, whoever walks decides what to make of
// it and whether to `descend`. `S` is what the walker wants to know in each directory.

import { errnoOf } from '../../base/errors.js';
import { ignoreRulesAbove, ignoreRulesIn, type IgnoreScope } from './ignore-scope.js';
import type { Pin } from './pin.js';
import {
  type DirectoryEntry,
  MAX_WALK_LEVELS,
  type Names,
  openChild,
  readDirectory,
  readNames,
} from './read-directory.js';
import type { RootSet } from './root-set.js';
import type { Turns } from './turns.js';

/** Entries cost a microsecond or a few, the clock as much as a tenth of one. */
const ENTRIES_PER_LOOK = 32;
/** Steps of matching rules that one entry is worth: a few milliseconds. What cannot be told by then is left out. */
export const MAX_IGNORE_STEPS = 500_000;
/** As long as an entry takes anyway. */
const STEPS_PER_ENTRY = 256;

export interface Level<S> {
  readonly directory: Pin;
  /** Of the paths of its entries, the slash included. */
  readonly prefix: string;
  readonly state: S;
}

interface Open<S> extends Level<S> {
  readonly entries: readonly DirectoryEntry[];
  readonly scope: IgnoreScope | undefined;
  next: number;
}

type WalkEntries = { readonly entries: readonly DirectoryEntry[]; readonly truncated: boolean };

export interface Entrance<S> {
  readonly directory: Pin;
  readonly path: string;
  readonly state: S;
  /** What to look at instead of all there is. */
  readonly only?: readonly DirectoryEntry[] | undefined;
  /** Leave out what .gitignore files name, and `.git`; said once, it holds for the whole walk. */
  readonly gitignore?: boolean;
}

export class TreeWalk<S> implements Disposable {
  /** A directory had too many names, the tree was too deep, or rules took too long to tell what they leave out. */
  truncated = false;
  /** Directories that may not be read. */
  unreadable = 0;
  readonly #set: RootSet;
  readonly #turns: Turns;
  readonly #levels: Open<S>[] = [];
  #sinceClock = 0;

  constructor(set: RootSet, turns: Turns) {
    this.#set = set;
    this.#turns = turns;
  }

  /** Counts work done for an entry beside the usual, in entries that would have taken as long. */
  spend(entries: number): void {
    this.#sinceClock += entries;
  }

  /** Whether to let others in. Ask after every entry: most times the clock is not even looked at. */
  get isTurnOver(): boolean {
    this.#sinceClock += 1;
    if (this.#sinceClock < ENTRIES_PER_LOOK) return false;
    this.#sinceClock = 0;
    return this.#turns.isOver;
  }

  /** Where the entry that `advance` gave stands. */
  get level(): Level<S> {
    const level = this.#levels.at(-1);
    if (level === undefined) throw new RangeError('the walk is over');
    return level;
  }

  /** What comes after that entry in its directory, as far as can be told: rules may leave out some of it. */
  upcoming(count: number): readonly DirectoryEntry[] {
    const level = this.#levels.at(-1);
    return level === undefined ? [] : level.entries.slice(level.next, level.next + count);
  }

  /** The next entry that no rule leaves out; 'pause' if there was none for long; undefined at the end. */
  advance(): DirectoryEntry | 'pause' | undefined {
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const entry = level.entries[level.next++];
      if (entry === undefined) {
        this.#levels.pop();
        level.directory[Symbol.dispose]();
      } else if (level.scope === undefined || !this.#leavesOut(level.scope, level.prefix, entry))
        return entry;
      else if (this.isTurnOver) return 'pause';
    }
    return undefined;
  }

  #leavesOut(scope: IgnoreScope, prefix: string, entry: DirectoryEntry): boolean {
    const effort = { left: MAX_IGNORE_STEPS };
    const verdict = scope.leavesOut(prefix, entry, effort);
    this.spend((MAX_IGNORE_STEPS - effort.left) / STEPS_PER_ENTRY);
    if (verdict === undefined) this.truncated = true;
    return verdict ?? true;
  }

  /** Takes the pin over: it is closed with the level, or right here if the directory cannot be read. */
  async enter(entrance: Entrance<S>): Promise<void> {
    const { directory, path, gitignore = false } = entrance;
    let scope: IgnoreScope | undefined;
    try {
      if (gitignore) scope = await ignoreRulesAbove(this.#set, path, this.#turns);
    } catch (error) {
      directory[Symbol.dispose]();
      throw error;
    }
    await this.#open(entrance, scope);
  }

  /** Undefined when it is done already, as it mostly is. */
  #open(entrance: Entrance<S>, scope: IgnoreScope | undefined): Promise<void> | undefined {
    const { directory, only } = entrance;
    const giveBack = (error: unknown): never => {
      directory[Symbol.dispose]();
      throw error;
    };
    try {
      const read: WalkEntries | Promise<WalkEntries> =
        only === undefined ? readDirectory(directory, this.#turns) : { entries: only, truncated: false };
      if (read instanceof Promise)
        return read.then((entries) => this.#push(entrance, entries, scope)).catch(giveBack);
      this.#push(entrance, read, scope);
      return undefined;
    } catch (error) {
      return giveBack(error);
    }
  }

  #push({ directory, path, state }: Entrance<S>, read: WalkEntries, scope: IgnoreScope | undefined): void {
    const prefix = path === '/' ? '/' : `${path}/`;
    if (read.truncated) this.truncated = true;
    this.#sinceClock = ENTRIES_PER_LOOK; // a directory may take long to read
    const below = scope && ignoreRulesIn(this.#set, directory, prefix, scope);
    this.#levels.push({ directory, prefix, state, entries: read.entries, scope: below, next: 0 });
  }

  /** Goes into the directory that `advance` has just given, and is to be awaited only when it gives a promise; `open` for one that is reached in another way. */
  descend(
    entry: DirectoryEntry,
    state: S,
    options: {
      readonly open?: (() => Pin | undefined) | undefined;
      readonly only?: (directory: Pin) => readonly DirectoryEntry[] | undefined;
    } = {},
  ): Promise<void> | undefined {
    return this.#below(entry, options.open, (directory, level) => {
      const only = options.only?.(directory);
      return this.#open({ directory, path: level.prefix + entry.name, state, only }, level.scope);
    });
  }

  /**
   * The names in that directory, for who wants no more of it: several times as quick as to walk it entry by entry. Not
   * where rules leave some out.
   */
  glance(
    entry: DirectoryEntry,
    open: (() => Pin | undefined) | undefined,
    see: (prefix: string, names: readonly string[]) => void,
  ): Promise<void> | undefined {
    return this.#below(entry, open, (directory, level) => {
      const seen = (read: Names): void => {
        directory[Symbol.dispose]();
        if (read.truncated) this.truncated = true;
        this.spend(ENTRIES_PER_LOOK); // a directory may take long to read
        see(`${level.prefix}${entry.name}/`, read.names);
      };
      const read = readNames(directory, this.#turns);
      if (read instanceof Promise) return read.then(seen);
      seen(read);
      return undefined;
    });
  }

  /** `work` takes the pin over unless it fails. */
  #below(
    entry: DirectoryEntry,
    open: (() => Pin | undefined) | undefined,
    work: (directory: Pin, level: Open<S>) => Promise<void> | undefined,
  ): Promise<void> | undefined {
    const level = this.#levels.at(-1);
    if (level === undefined) return undefined;
    if (this.#levels.length === MAX_WALK_LEVELS) {
      this.truncated = true;
      return undefined;
    }
    const directory = open === undefined ? openChild(level.directory, entry.name) : open();
    if (directory === undefined) return undefined; // removed or replaced since
    const passBy = (error: unknown): undefined => {
      directory[Symbol.dispose]();
      if (errnoOf(error) !== 'EACCES') throw error;
      this.unreadable += 1;
    };
    try {
      return work(directory, level)?.catch(passBy);
    } catch (error) {
      return passBy(error);
    }
  }

  [Symbol.dispose](): void {
    for (const level of this.#levels.splice(0)) level.directory[Symbol.dispose]();
  }
}
