// Text in the files below a directory inside the roots: which lines have it. Bounded in every direction: by matches,
// files, bytes, time, the length of a line and the size of a file; what is left out is said to be.

import { constants, closeSync, openSync, readSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { PatternTooSlowError, typedError } from './errors.js';
import { FilesError } from './path-errors.js';
import { cleanPath } from './names.js';
import type { Pin } from './pin.js';
import { assertPlainFile, openPinnedFile } from './read.js';
import { type DirectoryEntry, openEntry } from './read-directory.js';
import type { RootSet } from './root-set.js';
import { SearchBatch } from './search-batch.js';
import { compileNames, judgeName, type NameState } from './search-names.js';
import { type Query, withFinder } from './search-query.js';
import type { LineMatch } from './search-text.js';
import { TreeWalk } from './tree-walk.js';
import { Turns } from './turns.js';
import { pin } from './walk.js';

/** The most matches one search gives. */
export const MAX_SEARCH_MATCHES = 10_000;
/** Files one search looks into. */
export const MAX_SEARCH_FILES = 100_000;
/** Bytes one search looks through. */
export const MAX_SEARCH_BYTES = 1024 * 1024 * 1024;
/** A larger file is left out, and counted as such. */
export const MAX_SEARCH_FILE_BYTES = 16 * 1024 * 1024;
/** How long one search takes at most. */
export const MAX_SEARCH_MS = 300_000;
/** Looked at to tell text from other things, as git does. */
const SNIFF_BYTES = 8000;
/** Read at once, between two looks at the clock. */
const SLICE_BYTES = 1024 * 1024;
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface SearchOptions {
  readonly query: Query;
  /** Only files whose names or paths fit one of these. */
  readonly include?: readonly string[];
  /** Nothing whose name or path fits one of these, and nothing below it. */
  readonly exclude?: readonly string[];
  /** Leave out what .gitignore files name, and `.git`. */
  readonly gitignore?: boolean;
  /** Also names that begin with a dot. Default true. */
  readonly hidden?: boolean;
  readonly maxMatches?: number;
  readonly maxPerFile?: number;
  readonly maxFiles?: number;
  readonly maxBytes?: number;
  readonly maxMs?: number;
  /** Lines before and after each match. */
  readonly context?: number;
  /** The caller's own account of its room: false ends the search without this match. */
  readonly hasRoom?: (match: FileMatch) => boolean;
  readonly signal?: AbortSignal;
}

export interface FileMatch extends LineMatch {
  readonly path: string;
}

/** A timer may go off this much before its time, by the clock. */
const TIMER_SLACK_MS = 2;

/** Why there may be more than was given: which of the bounds was reached. */
export type SearchEnd = 'matches' | 'room' | 'files' | 'bytes' | 'time' | 'pattern' | 'tree' | 'per_file';

export interface SearchResult {
  readonly path: string;
  /** Depth first by name, then by line. */
  readonly matches: readonly FileMatch[];
  readonly end: SearchEnd | undefined;
  readonly filesSearched: number;
  readonly binaryFiles: number;
  readonly largeFiles: number;
  /** Files and directories that may not be read, or were gone when their turn came. */
  readonly unreadable: number;
}

/** Links found on the way are not followed; what was asked for by name may be one that stays inside the roots. */
export async function searchFiles(set: RootSet, path: string, options: SearchOptions): Promise<SearchResult> {
  const asked = cleanPath(path);
  const until = performance.now() + Math.min(options.maxMs ?? MAX_SEARCH_MS, MAX_SEARCH_MS);
  try {
    return await withFinder(options.query, until, options.signal, async (finder) => {
      const batch = new SearchBatch(finder, {
        maxMatches: Math.min(options.maxMatches ?? MAX_SEARCH_MATCHES, MAX_SEARCH_MATCHES),
        maxPerFile: options.maxPerFile ?? Infinity,
        context: options.context ?? 0,
        hasRoom: options.hasRoom ?? (() => true),
      });
      const search = new Search(set, batch, until, options);
      const end = (await search.run(asked)) ?? lackOf(batch);
      return {
        path: asked,
        matches: batch.matches,
        end,
        filesSearched: batch.filesSearched,
        ...search.counts,
      };
    });
  } catch (error) {
    throw typedError(error, asked);
  }
}

/** Why there may be more although all was gone through. */
function lackOf({ passedBy, isCapped }: SearchBatch): SearchEnd | undefined {
  if (passedBy > 0) return 'pattern';
  return isCapped ? 'per_file' : undefined;
}

class Search {
  readonly counts = { binaryFiles: 0, largeFiles: 0, unreadable: 0 };
  readonly #set: RootSet;
  readonly #batch: SearchBatch;
  readonly #until: number;
  readonly #options: SearchOptions;
  readonly #turns: Turns;
  #filesLeft: number;
  #bytesLeft: number;

  constructor(set: RootSet, batch: SearchBatch, until: number, options: SearchOptions) {
    this.#set = set;
    this.#batch = batch;
    this.#until = until;
    this.#options = options;
    this.#turns = new Turns(options.signal);
    this.#filesLeft = Math.min(options.maxFiles ?? MAX_SEARCH_FILES, MAX_SEARCH_FILES);
    this.#bytesLeft = Math.min(options.maxBytes ?? MAX_SEARCH_BYTES, MAX_SEARCH_BYTES);
  }

  async run(asked: string): Promise<SearchEnd | undefined> {
    const names = compileNames(asked, this.#options.include, this.#options.exclude);
    const start = pin(this.#set, asked);
    try {
      if (start.stat().isDirectory()) return await this.#walk(start, asked, names);
      using held = start;
      closeSync(openPinnedFile(this.#set, held, asked, constants.O_RDONLY)); // why it cannot be read is an answer here
      return (await this.#read(held, asked)) ?? (await this.#batch.flush());
    } catch (error) {
      if (error instanceof PatternTooSlowError)
        return performance.now() >= this.#until - TIMER_SLACK_MS ? 'time' : 'pattern';
      throw error;
    }
  }

  async #walk(directory: Pin, asked: string, names: NameState): Promise<SearchEnd | undefined> {
    using walk = new TreeWalk<NameState>(this.#set, this.#turns);
    const gitignore = this.#options.gitignore === true;
    await walk.enter({ directory, path: asked, state: names, gitignore });
    for (let entry = walk.advance(); entry !== undefined; entry = walk.advance()) {
      if (entry !== 'pause') {
        const end = await this.#visit(walk, entry);
        if (end !== undefined) return end;
      }
      if (this.#turns.isOver) await this.#turns.pass();
      if (performance.now() >= this.#until) return 'time';
    }
    this.counts.unreadable += walk.unreadable;
    return (await this.#batch.flush()) ?? (walk.truncated ? 'tree' : undefined);
  }

  async #visit(walk: TreeWalk<NameState>, entry: DirectoryEntry): Promise<SearchEnd | undefined> {
    const { level } = walk;
    const { isWanted, below } = this.#judge(level.state, entry);
    if (isWanted) return await this.#lookInto(level.directory, entry, level.prefix + entry.name);
    if (below !== undefined) await walk.descend(entry, below);
    return undefined;
  }

  #judge(state: NameState, entry: DirectoryEntry): ReturnType<typeof judgeName> {
    const isPassedBy =
      (this.#options.hidden === false && entry.name.startsWith('.')) ||
      !(entry.isFile() || entry.isDirectory());
    return isPassedBy ? { isWanted: false, below: undefined } : judgeName(state, entry);
  }

  async #lookInto(parent: Pin, entry: DirectoryEntry, path: string): Promise<SearchEnd | undefined> {
    using held = this.#unlessGone(() => openEntry(parent, entry.name));
    return held && (await this.#read(held, path));
  }

  /** Opened only once it is known to be a regular file: see read.ts. */
  async #read(held: Pin, path: string): Promise<SearchEnd | undefined> {
    const size = this.#unlessGone(() => this.#sizeOf(held, path));
    if (size === undefined) return undefined;
    if (size > MAX_SEARCH_FILE_BYTES) {
      this.counts.largeFiles += 1;
      return undefined;
    }
    if (this.#filesLeft === 0) return (await this.#batch.flush()) ?? 'files';
    if (size > this.#bytesLeft) return (await this.#batch.flush()) ?? 'bytes';
    this.#filesLeft -= 1;
    this.#bytesLeft -= size;
    const end = await this.#batch.makeRoom(size);
    if (end !== undefined) return end;
    const fd = this.#unlessGone(() => openSync(held.here, READ_FLAGS));
    if (fd === undefined) return undefined;
    try {
      const length = await this.#fill(fd, size);
      if (this.#batch.room.subarray(0, Math.min(length, SNIFF_BYTES)).includes(0))
        this.counts.binaryFiles += 1;
      else this.#batch.take(path, length);
    } finally {
      closeSync(fd);
    }
    return undefined;
  }

  #sizeOf(held: Pin, path: string): number {
    const stat = held.stat();
    assertPlainFile(this.#set, stat, path);
    return stat.size;
  }

  /** A file that is gone since, was replaced by something else, or is not for us, is counted and passed by. */
  #unlessGone<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof FilesError) && errnoOf(error) === undefined) throw error;
      this.counts.unreadable += 1;
      return undefined;
    }
  }

  /** As much as the file was said to have; what is added meanwhile is for the next search. */
  async #fill(fd: number, size: number): Promise<number> {
    const { room } = this.#batch;
    let length = 0;
    while (length < size) {
      const got = readSync(fd, room, length, Math.min(SLICE_BYTES, size - length), length);
      if (got === 0) break;
      length += got;
      if (length < size && this.#turns.isOver) await this.#turns.pass();
    }
    return length;
  }
}
