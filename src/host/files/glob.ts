// Finding paths by pattern, below a directory inside the roots: `**`, `*`, `?`, classes, braces.

import { lstatSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { NotADirectoryError, NotFoundError, typedError } from './errors.js';
import { FilesError } from './path-errors.js';
import { compilePattern, type Step } from './glob-pattern.js';
import { advance, nameTestOf, withoutNothing } from './glob-steps.js';
import { cleanPath } from './names.js';
import type { Pin } from './pin.js';
import type { DirectoryEntry } from './read-directory.js';
import type { RootSet } from './root-set.js';
import { type Level, TreeWalk } from './tree-walk.js';
import { Turns } from './turns.js';
import { pinDirectory } from './walk.js';

/** The most matches one glob gives. */
export const MAX_GLOB_MATCHES = 100_000;
/** Names of a pattern that can be held against an entry in the time that it takes anyway. */
const STEPS_PER_ENTRY = 2;

export interface GlobOptions {
  /** Wildcards match names that begin with a dot. Default false. */
  readonly dot?: boolean;
  /** Leave directories out. */
  readonly onlyFiles?: boolean;
  /** The caller's own cap, at most MAX_GLOB_MATCHES. */
  readonly maxMatches?: number;
  /** Leave out what .gitignore files name, and `.git`. */
  readonly gitignore?: boolean;
  readonly signal?: AbortSignal;
}

export interface GlobResult {
  /** The directory that relative patterns are relative to. */
  readonly path: string;
  /** Absolute, depth first by name: a directory, what is in it, the next name. */
  readonly matches: readonly string[];
  readonly truncated: boolean;
  /** Directories on the way that may not be read. */
  readonly unreadable: number;
}

/**
 * `**` walks directories and never links, so it cannot go round in circles; a plain or wildcard name goes through a
 * link if that leads to a directory inside the roots.
 */
export async function globPaths(
  set: RootSet,
  base: string,
  pattern: string,
  options: GlobOptions = {},
): Promise<GlobResult> {
  const asked = cleanPath(base);
  pinDirectory(set, asked)[Symbol.dispose](); // a missing or forbidden base is an error, not an empty result
  const quests = compilePattern(pattern, asked, { dot: options.dot === true });
  using search = new Search(set, options);
  try {
    for (const { start, steps } of quests) await search.run(start, steps);
  } catch (error) {
    throw typedError(error, asked);
  }
  const matches = quests.length === 1 ? search.matches : [...new Set(search.matches)].sort(byNames);
  return { path: asked, matches, truncated: search.truncated, unreadable: search.unreadable };
}

class Search implements Disposable {
  readonly matches: string[] = [];
  readonly #set: RootSet;
  readonly #turns: Turns;
  readonly #walk: TreeWalk<readonly Step[]>;
  readonly #options: GlobOptions;
  readonly #max: number;
  /** What kind of thing an entry is makes no difference, nor do rules. */
  readonly #onlyNamesMatter: boolean;
  #isFull = false;

  constructor(set: RootSet, options: GlobOptions) {
    this.#set = set;
    this.#turns = new Turns(options.signal);
    this.#walk = new TreeWalk(set, this.#turns);
    this.#options = options;
    this.#max = Math.min(options.maxMatches ?? MAX_GLOB_MATCHES, MAX_GLOB_MATCHES);
    this.#onlyNamesMatter = options.onlyFiles !== true && options.gitignore !== true;
  }

  get truncated(): boolean {
    return this.#isFull || this.#walk.truncated;
  }

  get unreadable(): number {
    return this.#walk.unreadable;
  }

  async run(start: string, given: readonly Step[]): Promise<void> {
    const walk = this.#walk;
    try {
      await this.#begin(start, given);
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof NotADirectoryError) return; // nothing there to match
      throw error;
    }
    for (let entry = walk.advance(); entry !== undefined; entry = walk.advance()) {
      if (entry === 'pause') {
        await this.#turns.pass();
        continue;
      }
      walk.spend(walk.level.state.length / STEPS_PER_ENTRY);
      const below = this.#visit(walk.level, entry);
      if (this.#isFull) return;
      const opening = below && this.#descend(walk.level, entry, below);
      if (opening !== undefined) await opening;
      if (this.#isFull) return;
      if (walk.isTurnOver) await this.#turns.pass();
    }
  }

  async #begin(start: string, given: readonly Step[]): Promise<void> {
    const directory = pinDirectory(this.#set, start);
    const state = withoutNothing(given);
    const gitignore = this.#options.gitignore === true;
    await this.#walk.enter({ directory, path: start, state, only: lookUp(directory, state), gitignore });
  }

  /** Notes a match, and says what is to be looked for below the entry, if anything. Not async: it runs per file. */
  #visit(level: Level<readonly Step[]>, entry: DirectoryEntry): readonly Step[] | undefined {
    const { ends, below } = advance(level.state, entry, this.#options.dot === true);
    for (const step of ends) {
      if (!this.#isWanted(step, level.directory, entry)) continue;
      if (this.matches.length === this.#max) this.#isFull = true;
      else this.matches.push(level.prefix + entry.name);
      break; // one is enough
    }
    return below;
  }

  #isWanted(step: Step, parent: Pin, entry: DirectoryEntry): boolean {
    if (this.#options.onlyFiles === true && entry.isDirectory()) return false;
    if (!step.directoryOnly || entry.isDirectory()) return true;
    if (!entry.isSymbolicLink()) return false;
    using target = this.#openLink(parent, entry);
    return target !== undefined;
  }

  #descend(level: Level<unknown>, entry: DirectoryEntry, state: readonly Step[]): Promise<void> | undefined {
    const open = entry.isSymbolicLink() ? () => this.#openLink(level.directory, entry) : undefined;
    const test = this.#onlyNamesMatter ? nameTestOf(state) : undefined;
    return test === undefined
      ? this.#walk.descend(entry, state, { open, only: (directory) => lookUp(directory, state) })
      : this.#walk.glance(entry, open, (prefix, names) => this.#takeFitting(prefix, names, test));
  }

  #takeFitting(prefix: string, names: readonly string[], test: (name: string) => boolean): void {
    for (const name of names) {
      if (!test(name)) continue;
      if (this.matches.length === this.#max) {
        this.#isFull = true;
        return;
      }
      this.matches.push(prefix + name);
    }
  }

  #openLink(parent: Pin, entry: DirectoryEntry): Pin | undefined {
    try {
      return pinDirectory(this.#set, `${parent.real}/${entry.name}`);
    } catch (error) {
      if (error instanceof FilesError) return undefined; // leads out, or nowhere, or to a file
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#walk[Symbol.dispose]();
  }
}

/** Names known beforehand are asked for one by one: no need to read a directory of thousands for them. */
function lookUp(directory: Pin, steps: readonly Step[]): DirectoryEntry[] | undefined {
  if (!steps.every(({ segment }) => segment.kind === 'literal')) return undefined;
  const names = new Set(steps.map(({ segment }) => (segment.kind === 'literal' ? segment.name : '')));
  const found: DirectoryEntry[] = [];
  for (const name of [...names].sort()) {
    const stat = lookAt(directory, name);
    if (stat === undefined) continue;
    found.push({
      name,
      isFile: () => stat.isFile(),
      isDirectory: () => stat.isDirectory(),
      isSymbolicLink: () => stat.isSymbolicLink(),
    });
  }
  return found;
}

function lookAt(directory: Pin, name: string): Stats | undefined {
  try {
    return lstatSync(directory.at(name), { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}

/** The order of the walk, for what came from several. */
function byNames(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x = '', y = ''] = [left[i], right[i]];
    if (x !== y) return x < y ? -1 : 1;
  }
  return left.length - right.length;
}
