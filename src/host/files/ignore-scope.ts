// Which entries of a walk the .gitignore files leave out: those of the directory, and of all above it in the repository.
//
// As git does it: an innermost file has the last word, a directory that is left out is not gone into, a link instead of
// a .gitignore file is no such file, and a repository inside another has its own rules only. What git keeps elsewhere
// (`.git/info/exclude`, the user's own file) is not looked at: it is not part of the tree.

import { closeSync, constants, lstatSync, readSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { FilesError } from './path-errors.js';
import type { Effort } from './ignore-pattern.js';
import { IgnoreRules } from './ignore-rules.js';
import { encodeName } from './names.js';
import type { Pin } from './pin.js';
import { openPinnedFile } from './read.js';
import { type DirectoryEntry, openChild, openEntry } from './read-directory.js';
import type { RootSet } from './root-set.js';
import type { Turns } from './turns.js';
import { pinDirectory } from './walk.js';

/** Read of one .gitignore file; what is beyond does not count. */
export const MAX_IGNORE_BYTES = 256 * 1024;

const RULES_FILE = '.gitignore';
const REPOSITORY = '.git';
const NOT_ASCII = /[\u0080-\uFFFF]/;

interface Chapter {
  readonly rules: IgnoreRules;
  /** How much of a path is the folder of these rules, its slash included. */
  readonly length: number;
}

export class IgnoreScope {
  /** The innermost first. */
  readonly #chapters: readonly Chapter[];

  constructor(chapters: readonly Chapter[] = []) {
    this.#chapters = chapters;
  }

  with(chapter: Chapter): IgnoreScope {
    return new IgnoreScope([chapter, ...this.#chapters]);
  }

  /** Undefined when the effort does not suffice to tell. */
  leavesOut(prefix: string, entry: DirectoryEntry, effort: Effort): boolean | undefined {
    if (entry.name === REPOSITORY) return true;
    if (this.#chapters.length === 0) return false;
    const name = asBytes(entry.name);
    const isDirectory = entry.isDirectory();
    for (const { rules, length } of this.#chapters) {
      let made: string | undefined;
      const path = (): string => (made ??= asBytes(prefix.slice(length) + entry.name));
      effort.left -= 1;
      const verdict = rules.verdict(name, path, isDirectory, effort);
      if (effort.left < 0) return undefined;
      if (verdict !== undefined) return verdict;
    }
    return false;
  }
}

/** The rules that hold in a directory, given those that hold in the one above. */
export function ignoreRulesIn(set: RootSet, directory: Pin, prefix: string, above: IgnoreScope): IgnoreScope {
  const rules = readRules(set, directory);
  const outer = isRepository(directory) ? new IgnoreScope() : above;
  return rules === undefined ? outer : outer.with({ rules, length: prefix.length });
}

/**
 * The rules that hold where a walk begins: of the directories above it, as far up as they are inside the roots. From the
 * outermost down, each from the pin of the one before: all from `/` would be the square of their number.
 */
export async function ignoreRulesAbove(set: RootSet, path: string, turns: Turns): Promise<IgnoreScope> {
  let scope = new IgnoreScope();
  let pin: Pin | undefined;
  try {
    for (const folder of foldersAbove(set, path)) {
      if (turns.isOver) await turns.pass();
      const name = folder.slice(folder.lastIndexOf('/') + 1);
      const above = pin;
      // A link is no child; where it leads is found the long way.
      pin = (above && openChild(above, name)) ?? pinIfAllowed(set, folder);
      above?.[Symbol.dispose]();
      const prefix = folder === '/' ? '/' : `${folder}/`;
      scope = pin === undefined ? new IgnoreScope() : ignoreRulesIn(set, pin, prefix, scope);
    }
    return scope;
  } finally {
    pin?.[Symbol.dispose]();
  }
}

/** The outermost first. What is above the roots need not be tried, unless the path comes in by a link from outside. */
function foldersAbove(set: RootSet, path: string): string[] {
  const folders = path === '/' ? [] : ['/'];
  for (let cut = path.indexOf('/', 1); cut !== -1; cut = path.indexOf('/', cut + 1))
    folders.push(path.slice(0, cut));
  return set.contains(path) ? folders.filter((folder) => set.contains(folder)) : folders;
}

function pinIfAllowed(set: RootSet, folder: string): Pin | undefined {
  try {
    return pinDirectory(set, folder);
  } catch (error) {
    if (error instanceof FilesError) return undefined;
    throw error;
  }
}

function isRepository(directory: Pin): boolean {
  try {
    return lstatSync(directory.at(REPOSITORY), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return false; // may be read but not searched
    throw error;
  }
}

function readRules(set: RootSet, directory: Pin): IgnoreRules | undefined {
  let fd: number;
  try {
    using held = openEntry(directory, RULES_FILE);
    fd = openPinnedFile(set, held, held.real, constants.O_RDONLY);
  } catch (error) {
    if (error instanceof FilesError || errnoOf(error) !== undefined) return undefined; // none, or none to be read
    throw error;
  }
  try {
    const room = Buffer.allocUnsafe(MAX_IGNORE_BYTES);
    let length = 0;
    for (let got = -1; got !== 0 && length < room.length; length += got) {
      got = readSync(fd, room, length, room.length - length, length);
    }
    return new IgnoreRules(room.toString('latin1', 0, length));
  } finally {
    closeSync(fd);
  }
}

function asBytes(name: string): string {
  return NOT_ASCII.test(name) ? encodeName(name).toString('latin1') : name;
}
