// The real directories inside which files may be touched, and the question whether a real path lies in one.

import { FilesUnsupportedError, InvalidPathError } from './path-errors.js';
import { isInside } from './is-inside.js';
import { cleanPath } from './names.js';
import type { Withheld } from './withheld.js';

export interface RootSetOptions {
  /**
   * A hard link is a second name of a file, and no path tells where the first one is. `refuse` keeps hands off every
   * file that has several names, for reading as for writing in place (an atomic write makes a new file and never
   * touches the old). The default is `allow`: package stores and checkouts are full of hard links, and the kernel
   * (fs.protected_hardlinks) keeps people from linking to what they could not write anyway.
   */
  readonly hardLinks?: 'allow' | 'refuse';
  /** Counts as outside of every root. */
  readonly withheld?: Withheld;
  /**
   * Nobody in this process relies on its working directory, so that it may be another one for a moment (see within.ts).
   * Never for a server in somebody else's process.
   */
  readonly ownsWorkingDirectory?: boolean;
}

export interface Root {
  readonly real: string;
  /** How many names lead from `/` to it. */
  readonly depth: number;
  /** The kernel's id of the mount it lies on, learned by a walk that trusted nothing (see walk.ts). */
  mountId: string | undefined;
}

export class RootSet {
  readonly roots: readonly string[];
  readonly hardLinks: 'allow' | 'refuse';
  readonly withheld: Withheld | undefined;
  readonly ownsWorkingDirectory: boolean;
  readonly #entries: readonly Root[];

  /** `roots` must be real paths (no links on the way): what is opened is compared with them letter by letter. */
  constructor(roots: readonly string[], options: RootSetOptions = {}) {
    if (process.platform !== 'linux') throw new FilesUnsupportedError(roots[0] ?? '/');
    for (const root of roots) {
      if (cleanPath(root) !== root) throw new InvalidPathError(root, 'a root must be a clean path');
    }
    this.roots = [...roots];
    this.hardLinks = options.hardLinks ?? 'allow';
    this.withheld = options.withheld;
    this.ownsWorkingDirectory = options.ownsWorkingDirectory === true;
    this.#entries = roots.map((real) => ({
      real,
      depth: real === '/' ? 0 : real.split('/').length - 1,
      mountId: undefined,
    }));
  }

  /** The innermost root that holds `real`. */
  rootOf(real: string): Root | undefined {
    let best: Root | undefined;
    for (const root of this.#entries) {
      if (isInside(real, root.real) && (best === undefined || root.depth > best.depth)) best = root;
    }
    return best !== undefined && this.withheld?.has(real) === true ? undefined : best;
  }

  contains(real: string): boolean {
    return this.#entries.some((root) => isInside(real, root.real)) && this.withheld?.has(real) !== true;
  }

  /** Whether `real` is a root or has one below it: what must not be moved or removed. */
  holdsRoot(real: string): boolean {
    return this.#entries.some((root) => isInside(root.real, real));
  }
}
