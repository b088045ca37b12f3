// Copying a file or a tree inside the roots. What a link leads to is copied if it was asked for by name; links found
// inside a tree are copied as links.

import { chmodSync, fchmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { copyBytes } from './copy-bytes.js';
import { AlreadyExistsError, TooLargeError, typedError } from './errors.js';
import { InvalidPathError } from './path-errors.js';
import { isInside } from './is-inside.js';
import { cleanPath, readLinkText, toSystemPath } from './names.js';
import type { Pin } from './pin.js';
import { locate, Place } from './place.js';
import { syncDirectory, syncFile } from './put-bytes.js';
import { assertPlainFile } from './read.js';
import { MAX_WALK_LEVELS, openChild, openEntry, readDirectory } from './read-directory.js';
import { removePlace } from './remove.js';
import type { RootSet } from './root-set.js';
import { TempFile } from './temp-file.js';
import { Turns } from './turns.js';
import { pin } from './walk.js';

/** The most entries one copy makes. */
export const MAX_COPY_ENTRIES = 100_000;

const PERMISSIONS = 0o777; // as `cp` does: a copy belongs to whoever copied, so set-id bits would mean another
const PRIVATE_MODE = 0o700;

export interface CopyOptions {
  /** Take the place of a file that is there. Directories are never merged or replaced. */
  readonly overwrite?: boolean;
  readonly durable?: boolean;
  /** The caller's own cap, at most MAX_COPY_ENTRIES. A tree with more is not copied. */
  readonly maxEntries?: number;
  readonly signal?: AbortSignal;
}

export interface CopyResult {
  readonly path: string;
  readonly entries: number;
  /** FIFOs, sockets and devices, which have no content to copy. */
  readonly skipped: number;
}

export async function copyPath(
  set: RootSet,
  from: string,
  to: string,
  options: CopyOptions = {},
): Promise<CopyResult> {
  const asked = cleanPath(from);
  using source = pin(set, asked);
  using target = locate(set, to);
  target.assertChangeable(set);
  if (isInside(target.real, source.real)) throw new InvalidPathError(target.asked, 'inside what is copied');
  try {
    return await copyTo(set, source, target, options);
  } catch (error) {
    throw typedError(error, target.asked);
  }
}

/** A copy that fails half-way is taken back. */
export async function copyTo(
  set: RootSet,
  source: Pin,
  target: Place,
  options: CopyOptions,
): Promise<CopyResult> {
  const copy = new Copy(set, target.asked, options);
  const stat = source.stat();
  if (!stat.isDirectory()) await copy.file(source, target, options.overwrite === true);
  else {
    if (target.look() !== undefined) throw new AlreadyExistsError(target.asked);
    try {
      await copy.directory(source, target, 1);
    } catch (error) {
      await removePlace(target, true, new Turns()).catch(() => {}); // whatever is left of it, the first error counts
      throw error;
    }
  }
  if (options.durable !== false) await syncDirectory(target.parent, 0);
  return { path: target.asked, entries: copy.entries, skipped: copy.skipped };
}

class Copy {
  entries = 0;
  skipped = 0;
  readonly #set: RootSet;
  readonly #asked: string;
  readonly #options: CopyOptions;
  readonly #turns: Turns;
  readonly #max: number;

  constructor(set: RootSet, asked: string, options: CopyOptions) {
    this.#max = Math.min(options.maxEntries ?? MAX_COPY_ENTRIES, MAX_COPY_ENTRIES);
    this.#set = set;
    this.#asked = asked;
    this.#options = options;
    this.#turns = new Turns(options.signal);
  }

  async file(source: Pin, target: Place, overwrite: boolean): Promise<void> {
    this.#count();
    const stat = source.stat();
    assertPlainFile(this.#set, stat, this.#asked);
    if (!overwrite && target.look() !== undefined) throw new AlreadyExistsError(this.#asked);
    using temp = new TempFile(target.parent, PRIVATE_MODE);
    await copyBytes(source, temp.fd, stat.size, this.#options.signal);
    fchmodSync(temp.fd, stat.mode & PERMISSIONS);
    if (this.#options.durable !== false) await syncFile(temp.fd);
    this.#options.signal?.throwIfAborted();
    target.assertInside(this.#set);
    if (overwrite) temp.replace(target);
    else temp.settle(target);
  }

  async directory(source: Pin, target: Place, level: number): Promise<void> {
    if (level > MAX_WALK_LEVELS) throw new TooLargeError(this.#asked, level, MAX_WALK_LEVELS, 'levels');
    this.#count();
    mkdirSync(target.path, PRIVATE_MODE); // its own mode comes last: it may forbid writing
    using made = openChild(target.parent, target.name);
    if (made === undefined) throw new AlreadyExistsError(this.#asked); // replaced since
    const { entries, truncated } = await readDirectory(source, this.#turns);
    if (truncated) throw new TooLargeError(this.#asked, entries.length + 1, this.#max, 'entries');
    for (const entry of entries) {
      const place = new Place(made, entry.name, this.#asked);
      if (entry.isDirectory()) await this.#child(source, place, level);
      else if (entry.isSymbolicLink()) this.#link(source, place);
      else if (entry.isFile()) await this.#fileIn(source, place);
      else this.skipped += 1;
      if (this.#turns.isOver) await this.#turns.pass();
    }
    chmodSync(made.here, source.stat().mode & PERMISSIONS);
  }

  async #child(parent: Pin, target: Place, level: number): Promise<void> {
    using source = openChild(parent, target.name);
    if (source !== undefined) await this.directory(source, target, level + 1);
  }

  async #fileIn(parent: Pin, target: Place): Promise<void> {
    using source = openEntry(parent, target.name);
    await this.file(source, target, false);
  }

  #link(parent: Pin, target: Place): void {
    this.#count();
    symlinkSync(toSystemPath(readLinkText(parent.at(target.name))), target.path);
  }

  #count(): void {
    this.entries += 1;
    if (this.entries > this.#max) throw new TooLargeError(this.#asked, this.entries, this.#max, 'entries');
  }
}
