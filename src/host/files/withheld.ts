// What nobody is to touch although it lies in a root: the folders and files a server keeps for itself.

import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from './is-inside.js';

export interface WithheldOptions {
  /** Whether they are there or not. */
  readonly folders: readonly string[];
  /** Files likewise. */
  readonly files?: readonly string[];
  /** Files that programs in a sandbox are not to read either. */
  readonly secrets?: readonly string[];
  /** Folders that may hold others whose names nobody can know in advance, and what those look like. */
  readonly nameless?: { readonly places: readonly string[]; readonly name: RegExp };
}

export class Withheld {
  /** Where they really are, as far as there is anything. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
  readonly #secrets: readonly string[];
  readonly #known: readonly string[];
  readonly #places: readonly string[];
  readonly #name: RegExp | undefined;
  readonly #near: ReadonlySet<string>;

  constructor(options: WithheldOptions) {
    this.folders = options.folders.map(resolveFar);
    this.files = (options.files ?? []).map(resolveFar);
    this.#secrets = (options.secrets ?? []).map(resolveFar);
    this.#known = [...this.folders, ...this.files, ...this.#secrets];
    this.#places = [...new Set((options.nameless?.places ?? []).map(resolveFar))];
    this.#name = options.nameless?.name;
    this.#near = new Set([...this.#places, ...this.#known.map((known) => dirname(known))]);
  }

  /** Whether a real path is one of them, or in one. */
  has(real: string): boolean {
    return (
      this.#known.some((known) => isInside(real, known)) ||
      this.#places.some((place) => isInside(real, place) && this.#isNamed(real.slice(place.length + 1)))
    );
  }

  /** Whether one is, or may come to be, at this real path or below it: what moved would take it along. */
  isBelow(real: string): boolean {
    return [...this.#known, ...this.#places].some((known) => isInside(known, real));
  }

  /** Whether an entry of this real directory may be one. */
  isNear(real: string): boolean {
    return this.#near.has(real);
  }

  /** The folders that are there now, in the places that `matters` says yes to. */
  list(matters: (folder: string) => boolean): string[] {
    const named = this.#places.filter(matters).flatMap((place) =>
      namesIn(place)
        .filter((name) => this.#isNamed(name))
        .map((name) => join(place, name)),
    );
    return [...this.folders.filter(matters), ...named].filter(isFolder);
  }

  /** The secrets that are there now, likewise. */
  listSecrets(matters: (file: string) => boolean): string[] {
    return this.#secrets.filter((file) => matters(file) && isFile(file));
  }

  #isNamed(below: string): boolean {
    return this.#name?.test(below) === true;
  }
}

/** The real path of what is there, and behind it the names of what is not. */
function resolveFar(path: string): string {
  try {
    // Asked first: an exception takes longer, and a server has not answered anybody yet.
    if (existsSync(path)) return realpathSync(path);
  } catch {
    // Gone since.
  }
  const above = dirname(path);
  return above === path ? path : join(resolveFar(above), path.slice(above === '/' ? 1 : above.length + 1));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}
