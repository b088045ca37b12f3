// Finding paths by pattern, below a directory inside the roots: `**`, `*`, `?`, classes, braces.

import { lstatSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { FilesError, NotADirectoryError, NotFoundError, typedError } from './errors.js';
import { compilePattern, type Step } from './glob-pattern.js';
import { cleanPath } from './names.js';
import type { Pin } from './pin.js';
import { type DirectoryEntry, MAX_WALK_LEVELS, openChild, readDirectory } from './read-directory.js';
import type { RootSet } from './root-set.js';
import { Turns } from './turns.js';
import { pinDirectory } from './walk.js';

/** The most matches one glob gives. */
export const MAX_GLOB_MATCHES = 100_000;

export interface GlobOptions {
  /** Wildcards match names that begin with a dot. Default false. */
  readonly dot?: boolean;
  /** Leave directories out. */
  readonly onlyFiles?: boolean;
  /** The caller's own cap, at most MAX_GLOB_MATCHES. */
  readonly maxMatches?: number;
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

interface Level {
  readonly directory: Pin;
  readonly prefix: string;
  readonly steps: readonly Step[];
  readonly entries: readonly DirectoryEntry[];
  next: number;
}

class Search implements Disposable {
  readonly matches: string[] = [];
  truncated = false;
  unreadable = 0;
  readonly #set: RootSet;
  readonly #turns: Turns;
  readonly #max: number;
  readonly #dot: boolean;
  readonly #onlyFiles: boolean;
  readonly #levels: Level[] = [];

  constructor(set: RootSet, options: GlobOptions) {
    this.#set = set;
    this.#turns = new Turns(options.signal);
    this.#max = Math.min(options.maxMatches ?? MAX_GLOB_MATCHES, MAX_GLOB_MATCHES);
    this.#dot = options.dot === true;
    this.#onlyFiles = options.onlyFiles === true;
  }

  async run(start: string, steps: readonly Step[]): Promise<void> {
    try {
      await this.#enter(pinDirectory(this.#set, start), start, steps);
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof NotADirectoryError) return; // nothing there to match
      throw error;
    }
    for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1)) {
      const entry = level.entries[level.next++];
      if (entry === undefined) {
        this.#levels.pop();
        level.directory[Symbol.dispose]();
      } else {
        const below = this.#visit(level, entry);
        if (below === 'full') return;
        if (below !== undefined) await this.#descend(level, entry, below);
      }
      if (this.#turns.isOver) await this.#turns.pass();
    }
  }

  /** Notes a match, and says what is to be looked for below the entry, if anything. Not async: it runs per file. */
  #visit(level: Level, entry: DirectoryEntry): ReadonlySet<Step> | 'full' | undefined {
    const { name } = entry;
    const goesOn = entry.isDirectory() || entry.isSymbolicLink();
    const below = goesOn ? new Set<Step>() : undefined;
    let isMatch = false;
    for (const step of level.steps) {
      const { segment, next } = step;
      if (segment.kind === 'globstar') {
        if (!this.#dot && name.startsWith('.')) continue;
        if (next === undefined) isMatch ||= this.#isWanted(step, level, entry);
        if (entry.isDirectory()) below?.add(step);
      } else if (segment.kind === 'literal' ? segment.name === name : segment.test(name)) {
        if (next === undefined) isMatch ||= this.#isWanted(step, level, entry);
        else below?.add(next);
      }
    }
    if (isMatch && this.matches.length === this.#max) {
      this.truncated = true;
      return 'full';
    }
    if (isMatch) this.matches.push(level.prefix + name);
    return below !== undefined && below.size > 0 ? below : undefined;
  }

  #isWanted(step: Step, level: Level, entry: DirectoryEntry): boolean {
    if (this.#onlyFiles && entry.isDirectory()) return false;
    if (!step.directoryOnly || entry.isDirectory()) return true;
    if (!entry.isSymbolicLink()) return false;
    using target = this.#openBelow(level.directory, entry);
    return target !== undefined;
  }

  async #descend(level: Level, entry: DirectoryEntry, steps: ReadonlySet<Step>): Promise<void> {
    if (this.#levels.length === MAX_WALK_LEVELS) {
      this.truncated = true;
      return;
    }
    const child = this.#openBelow(level.directory, entry);
    if (child === undefined) return;
    try {
      await this.#enter(child, level.prefix + entry.name, steps);
    } catch (error) {
      if (errnoOf(error) !== 'EACCES') throw error;
      this.unreadable += 1;
    }
  }

  #openBelow(parent: Pin, entry: DirectoryEntry): Pin | undefined {
    if (!entry.isSymbolicLink()) return openChild(parent, entry.name);
    const path = `${parent.real}/${entry.name}`;
    try {
      return pinDirectory(this.#set, path);
    } catch (error) {
      if (error instanceof FilesError) return undefined; // leads out, or nowhere, or to a file
      throw error;
    }
  }

  async #enter(directory: Pin, path: string, given: Iterable<Step>): Promise<void> {
    try {
      const steps = withoutNothing(given);
      const prefix = path === '/' ? '/' : `${path}/`;
      const found = literalsOnly(steps)
        ? { entries: lookUp(directory, steps), truncated: false }
        : await readDirectory(directory, this.#turns);
      if (found.truncated) this.truncated = true;
      this.#levels.push({ directory, prefix, steps, entries: found.entries, next: 0 });
    } catch (error) {
      directory[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const level of this.#levels.splice(0)) level.directory[Symbol.dispose]();
  }
}

/** `**` may stand for no directory at all: then what follows it is looked for right here as well. */
function withoutNothing(given: Iterable<Step>): readonly Step[] {
  const steps = new Set(given);
  for (const { segment, next } of steps) {
    if (segment.kind === 'globstar' && next !== undefined) steps.add(next);
  }
  return [...steps];
}

function literalsOnly(steps: readonly Step[]): boolean {
  return steps.every(({ segment }) => segment.kind === 'literal');
}

/** Names known beforehand are asked for one by one: no need to read a directory of thousands for them. */
function lookUp(directory: Pin, steps: readonly Step[]): DirectoryEntry[] {
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
