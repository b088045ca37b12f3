// Which directories a server, and a session within it, may work in: configured once, only ever narrowed.

import { realpathSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { errnoOf, LocalError } from '../base/errors.js';
import { FilesError } from '../host/files/path-errors.js';
import { isInside } from '../host/files/is-inside.js';
import { cleanPath, decodeName, REPLACEMENT, toSystemPath } from '../host/files/names.js';
import { RootSet, type RootSetOptions } from '../host/files/root-set.js';

/** Roots of one server or session: every path is compared with each of them. */
export const MAX_ROOTS = 64;

export class InvalidRootError extends LocalError {
  override readonly name = 'InvalidRootError';
  readonly root: string;

  constructor(root: string, why: string, cause?: unknown) {
    super('invalid_root', `root ${JSON.stringify(root)}: ${why}`, { facts: { root, why }, cause });
    this.root = root;
  }
}

/** None of the roots a session asked for lies in, or holds, an allowed one. */
export class RootsNotGrantedError extends LocalError {
  override readonly name = 'RootsNotGrantedError';
  readonly requested: readonly string[];
  readonly allowedRoots: readonly string[];

  constructor(requested: readonly string[], allowedRoots: readonly string[]) {
    super('roots_not_granted', 'none of the requested roots is allowed', {
      facts: { requested, allowedRoots },
    });
    this.requested = requested;
    this.allowedRoots = allowedRoots;
  }
}

export interface RootsOptions extends RootSetOptions {
  /** `/` as a root means no roots at all, so it has to be said twice: in the list and here. */
  readonly allowFilesystemRoot?: boolean;
  /** What `~` stands for. Without it `~` is refused: a server's home is not the home its caller has in mind. */
  readonly home?: string;
}

interface Root {
  /** As people wrote it, cleaned. */
  readonly shown: string;
  /** Where it really is: what every opened file is compared with. */
  readonly real: string;
}

export class Roots {
  /** The roots as they were written. */
  readonly shown: readonly string[];
  readonly real: readonly string[];
  /** For the functions of host/files. */
  readonly files: RootSet;
  readonly #roots: readonly Root[];
  readonly #options: RootsOptions;

  /** Throws InvalidRootError for a root that is relative, missing, no directory, or `/` unasked. None at all is allowed. */
  static open(configured: readonly string[], options: RootsOptions = {}): Roots {
    if (configured.length > MAX_ROOTS) {
      throw new InvalidRootError(configured[MAX_ROOTS] ?? '', `more than ${MAX_ROOTS} roots`);
    }
    return new Roots(
      configured.map((root) => examine(root, options)),
      options,
    );
  }

  private constructor(roots: readonly Root[], options: RootsOptions) {
    this.#roots = roots.filter(({ real }, i) => roots.findIndex((other) => other.real === real) === i);
    this.#options = options;
    this.shown = this.#roots.map((root) => root.shown);
    this.real = this.#roots.map((root) => root.real);
    this.files = new RootSet(this.real, options);
  }

  /**
   * The roots of a session: each requested directory inside an allowed root, and each allowed root inside a requested
   * directory. Nothing requested means all. Throws RootsNotGrantedError if nothing is left.
   */
  narrow(requested: readonly string[] = []): Roots {
    if (requested.length === 0) return this;
    const granted = requested.slice(0, MAX_ROOTS).flatMap((path) => this.#grant(path));
    if (granted.length === 0) throw new RootsNotGrantedError(requested, this.shown);
    return new Roots(granted.slice(0, MAX_ROOTS), this.#options);
  }

  /** Whether a real path (no links in it) lies in a root. Paths from outside are for host/files to judge. */
  contains(real: string): boolean {
    return this.files.contains(real);
  }

  /** The absolute path meant by `path`: relative to `cwd`, or to the first root. `~` is a name like any other. */
  resolve(path: string, cwd: string = this.shown[0] ?? '/'): string {
    return cleanPath(path === '' || path.startsWith('/') ? path : `${cwd}/${path}`);
  }

  /** A real path in the words of whoever configured the root it is in. */
  display(real: string): string {
    const root = this.#roots
      .filter((candidate) => isInside(real, candidate.real))
      .reduce<Root | undefined>((best, next) => (longer(next, best) ? next : best), undefined);
    if (root === undefined) return real;
    const below = real.slice(root.real === '/' ? 1 : root.real.length + 1);
    return below === '' ? root.shown : posix.join(root.shown, below);
  }

  #grant(path: string): Root[] {
    let wanted: Root;
    try {
      wanted = examine(path, { ...this.#options, allowFilesystemRoot: true });
    } catch (error) {
      if (error instanceof InvalidRootError) return []; // cannot be granted; whether it is there is not said
      throw error;
    }
    if (this.contains(wanted.real)) return [wanted];
    return this.#roots.filter((root) => isInside(root.real, wanted.real));
  }
}

const OPEN_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'no such directory',
  ENOTDIR: 'is not a directory',
  ELOOP: 'its links lead round in a circle',
  EACCES: 'may not be opened',
};

function examine(root: string, options: RootsOptions): Root {
  const shown = clean(root, options);
  let real: string;
  try {
    real = realPathOf(shown);
    if (!statSync(toSystemPath(real)).isDirectory()) throw new InvalidRootError(root, 'is not a directory');
  } catch (error) {
    if (errnoOf(error) === undefined || error instanceof LocalError) throw error;
    throw new InvalidRootError(root, OPEN_FAILURES[errnoOf(error) ?? ''] ?? 'cannot be opened', error);
  }
  if (real === '/' && options.allowFilesystemRoot !== true) {
    throw new InvalidRootError(root, 'the whole file system has to be allowed explicitly');
  }
  return { shown, real };
}

function realPathOf(path: string): string {
  const real = realpathSync.native(toSystemPath(path));
  if (!real.includes(REPLACEMENT)) return real;
  return decodeName(realpathSync.native(toSystemPath(path), { encoding: 'buffer' }));
}

function clean(root: string, options: RootsOptions): string {
  const isHome = root === '~' || root.startsWith('~/');
  if (isHome && options.home === undefined) throw new InvalidRootError(root, '`~` is not expanded here');
  try {
    return cleanPath(isHome ? `${options.home ?? ''}${root.slice(1)}` : root);
  } catch (error) {
    if (error instanceof FilesError) throw new InvalidRootError(root, 'must be an absolute path', error);
    throw error;
  }
}

function longer(root: Root, than: Root | undefined): boolean {
  return than === undefined || root.real.length > than.real.length;
}
