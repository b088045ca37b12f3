// The folder of a user's detached processes: one folder for each, found again by whoever comes later.

import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { makeFolders } from '../make-folders.js';
import { type DetachedEntry, ENTRY_NAME, readEntry, writeEntry } from './detached-entry.js';
import { type DetachedEnd, DetachedRun } from './detached-run.js';

/** Detached processes that may run at the same time, of all sessions of a user: none of them ends with anybody. */
export const MAX_DETACHED_RUNNING = 64;
/** Kept of those that ended, the latest ones. */
export const MAX_DETACHED_ENDED = 256;
/** From when on nobody will ask any more how a process ended. */
export const MAX_DETACHED_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/** Output kept of those that ended, in all. */
export const MAX_DETACHED_BYTES = 1024 * 1024 * 1024;
/** Names looked at; more than this were not made by us. */
export const MAX_DETACHED_NAMES = 4096;

/** Rights of others: all of them, or those to put something there. */
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const NAME = /^p_[0-9a-hjkmnp-tv-z]{26}$/;

export class StateFolderError extends LocalError {
  override readonly name = 'StateFolderError';

  constructor(path: string, why: string, cause?: unknown) {
    super('state_folder', `${path} ${why}`, { facts: { path }, cause });
  }
}

export class DetachedFullError extends LocalError {
  override readonly name = 'DetachedFullError';

  constructor() {
    super('detached_full', `${MAX_DETACHED_RUNNING} detached processes are running already`, {
      facts: { limit: 'max_detached_running', value: MAX_DETACHED_RUNNING },
    });
  }
}

export interface DetachedStoreOptions {
  /** Made (0700) when it is missing. */
  readonly dir: string;
  /** Told once of each thing in the folder that is not ours. */
  readonly onGarbage?: (path: string, why: string) => void;
}

interface SweepCaps {
  readonly ended: number;
  readonly ageMs: number;
  readonly bytes: number;
}

export class DetachedStore {
  readonly #base: string;
  readonly #dir: string;
  readonly #onGarbage: (path: string, why: string) => void;
  readonly #named = new Set<string>();

  constructor(options: DetachedStoreOptions) {
    this.#base = options.dir;
    this.#dir = join(options.dir, 'detached');
    this.#onGarbage = options.onGarbage ?? (() => {});
  }

  /** A folder with all that a process needs to be known before it runs. Throws StateFolderError, DetachedFullError. */
  create(facts: Omit<DetachedEntry, 'id'> & { readonly id?: string }): DetachedRun {
    this.#prepare();
    if (this.list().filter((run) => run.end() === undefined).length >= MAX_DETACHED_RUNNING)
      throw new DetachedFullError();
    const entry = { ...facts, id: facts.id ?? newId('p') };
    const folder = join(this.#dir, entry.id);
    try {
      mkdirSync(folder, { mode: 0o700 });
      for (const name of ['stdout', 'stderr'])
        writeFileSync(join(folder, name), '', { mode: 0o600, flag: 'wx' });
      writeEntry(folder, entry);
    } catch (thrown) {
      this.#drop(folder); // without an entry nobody would ever look at it again
      throw new StateFolderError(folder, `cannot be written (${errnoOf(thrown)})`, thrown);
    }
    return new DetachedRun(folder, entry);
  }

  find(id: string): DetachedRun | undefined {
    return NAME.test(id) && this.#isOurs(this.#base, OTHERS_WRITE) && this.#isOurs(this.#dir)
      ? this.#open(id)
      : undefined;
  }

  /** All that are known, the oldest first. What is not ours is left out. */
  list(): DetachedRun[] {
    return this.#names().flatMap((name) => this.#open(name) ?? []);
  }

  /** Forgets one, with its output. False when it cannot be removed, which is told of. */
  remove(run: DetachedRun): boolean {
    return this.#drop(run.folder);
  }

  /** Forgets those that ended long ago, or before many others, and what never came to be. Gives the number of the former. */
  sweep(caps: Partial<SweepCaps> = {}): number {
    const maxAgeMs = caps.ageMs ?? MAX_DETACHED_AGE_MS;
    const maxEnded = caps.ended ?? MAX_DETACHED_ENDED;
    let bytesLeft = caps.bytes ?? MAX_DETACHED_BYTES;
    const ended = this.list()
      .flatMap((run) => withEnd(run))
      .sort((a, b) => b.end.endedAtMs - a.end.endedAtMs);
    const old = ended.filter(({ run, end }, place) => {
      bytesLeft -= run.size('stdout') + run.size('stderr');
      return place >= maxEnded || bytesLeft < 0 || Date.now() - end.endedAtMs > maxAgeMs;
    });
    for (const folder of this.#unfinished()) this.#drop(folder);
    return old.filter(({ run }) => this.remove(run)).length;
  }

  /** Whoever made these was ended before the entry was written, and so before anything ran. */
  #unfinished(): string[] {
    const folders = this.#names().map((name) => join(this.#dir, name));
    return folders.filter(
      (folder) => this.#isOurs(folder) && !isYoung(folder) && !existsSync(join(folder, ENTRY_NAME)),
    );
  }

  #drop(folder: string): boolean {
    try {
      rmSync(folder, { recursive: true, force: true });
      return true;
    } catch (thrown) {
      this.#complain(folder, `cannot be removed (${errnoOf(thrown)})`);
      return false;
    }
  }

  #open(name: string): DetachedRun | undefined {
    const folder = join(this.#dir, name);
    if (!this.#isOurs(folder)) return undefined;
    try {
      const run = new DetachedRun(folder, readEntry(folder, name));
      return run.isElsewhere && run.end() === undefined ? undefined : run;
    } catch (thrown) {
      // One that is just being made has no entry yet, and runs nothing yet.
      if (!isYoung(folder)) this.#complain(folder, toError(thrown).message);
      return undefined;
    }
  }

  #names(): string[] {
    if (!this.#isOurs(this.#base, OTHERS_WRITE) || !this.#isOurs(this.#dir)) return [];
    let names: string[];
    try {
      names = readdirSync(this.#dir).sort();
    } catch (thrown) {
      this.#complain(this.#dir, `cannot be read (${errnoOf(thrown)})`);
      return [];
    }
    for (const name of names) if (!NAME.test(name)) this.#complain(join(this.#dir, name), 'is not ours');
    return names.filter((name) => NAME.test(name)).slice(-MAX_DETACHED_NAMES);
  }

  /** A folder, not a link to one, and nobody else's. False when there is none. */
  #isOurs(path: string, refused = OTHERS): boolean {
    try {
      const stat = lstatSync(path);
      if (stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & refused) === 0) return true;
    } catch {
      return false;
    }
    this.#complain(path, 'is not a folder of our own that is closed to others');
    return false;
  }

  #complain(path: string, why: string): void {
    if (this.#named.has(path) || this.#named.size >= MAX_DETACHED_NAMES) return;
    this.#named.add(path);
    this.#onGarbage(path, why);
  }

  #prepare(): void {
    for (const [path, refused] of [[this.#base, OTHERS_WRITE] as const, [this.#dir, OTHERS] as const]) {
      try {
        makeFolders(path); // closed to others; what is there already stays as its owner wants it
      } catch (thrown) {
        throw new StateFolderError(path, `cannot be made (${errnoOf(thrown)})`, thrown);
      }
      if (!this.#isOurs(path, refused))
        throw new StateFolderError(path, 'is not a folder of our own that is closed to others');
    }
  }
}

function withEnd(run: DetachedRun): { readonly run: DetachedRun; readonly end: DetachedEnd }[] {
  const end = run.end();
  return end === undefined ? [] : [{ run, end }];
}

const YOUNG_MS = 60_000;

function isYoung(folder: string): boolean {
  try {
    return Date.now() - lstatSync(folder).mtimeMs < YOUNG_MS;
  } catch {
    return true; // gone meanwhile
  }
}
