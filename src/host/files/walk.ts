// From a path to a pin inside the roots: the one place where it is decided whether a path may be touched.
//
// Two ways with one outcome. The quick way lets the kernel resolve the whole path and then asks where it ended. The
// careful way takes one name at a time, each from the pin of the one before, and reads links itself; it is taken when
// the quick way fails, to find out why, or leaves a doubt.
//
// The doubt: `/proc/<pid>/root` can lead into another mount namespace, where somebody may have bound `/etc` to the
// very path of a root, and the kernel then reports a path inside the root. Mount ids are unique to a namespace, so a
// pin on the same mount as its root is where it says it is. The careful way never steps through such links at all.

import { closeSync, fstatSync, lstatSync, mkdirSync, openSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import {
  ForbiddenPathError,
  LinkLoopError,
  NotADirectoryError,
  NotFoundError,
  typedError,
  isShortage,
} from './errors.js';
import { readLinkText, toSystemPath } from './names.js';
import {
  descriptorPath,
  HOLD,
  HOLD_DIRECTORY,
  isGone,
  mountIdOf,
  NO_FOLLOW,
  Pin,
  realPathOf,
} from './pin.js';
import type { Root, RootSet } from './root-set.js';

/** As many as the kernel follows. Also the budget for things that change under our hands. */
export const MAX_LINKS = 40;

/** Names one walk looks at. Forty links of two thousand names each would keep the whole process waiting. */
export const MAX_STEPS = 4096;

export const NEW_DIRECTORY_MODE = 0o777; // less the umask

export interface PinOptions {
  /** The path to name in errors, when `path` came out of a link. */
  readonly asked?: string;
  /** Pin a link itself rather than what it leads to, if the last name is one. */
  readonly keepLastLink?: boolean;
  readonly directory?: boolean;
  /** Make directories that are missing. `made` is told of each. */
  readonly create?: { made: number };
}

/** The thing at `path`, inside the roots and held. Throws ForbiddenPathError for all that leads elsewhere. */
export function pin(set: RootSet, path: string, options: PinOptions = {}): Pin {
  try {
    const held = pinAtOnce(set, path, options);
    if (held !== undefined) return held;
    // By far the commonest failure, and told from the others without walking all the way.
    if (options.create === undefined && isMissing(set, path)) throw new NotFoundError(options.asked ?? path);
    return pinByStep(set, path, options);
  } catch (error) {
    throw typedError(error, options.asked ?? path);
  }
}

export function pinDirectory(set: RootSet, path: string, options: PinOptions = {}): Pin {
  return pin(set, path, { ...options, directory: true });
}

function pinAtOnce(set: RootSet, path: string, options: PinOptions): Pin | undefined {
  const flags =
    (options.directory === true ? HOLD_DIRECTORY : HOLD) | (options.keepLastLink === true ? NO_FOLLOW : 0);
  let fd: number;
  try {
    fd = openSync(toSystemPath(path), flags);
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined; // why, and whether that may be told, is found step by step
  }
  let held: Pin | undefined;
  try {
    const real = realPathOf(fd, options.asked ?? path);
    const root = set.rootOf(real);
    if (root !== undefined && isOnMountOf(set, root, fd) && !isGone(fd, real))
      held = new Pin(fd, real, set.withheld);
    return held;
  } finally {
    if (held === undefined) closeSync(fd);
  }
}

/** Surely missing: its directory is inside the roots and has no such name. False says nothing. */
function isMissing(set: RootSet, path: string): boolean {
  const cut = path.lastIndexOf('/');
  const name = path.slice(cut + 1);
  if (cut <= 0 || name === '' || name === '.' || name === '..') return false;
  using parent = pinAtOnce(set, path.slice(0, cut), { directory: true });
  if (parent === undefined || set.withheld?.has(`${parent.real}/${name}`) === true) return false;
  try {
    return lstatSync(parent.at(name), { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function isOnMountOf(set: RootSet, root: Root, fd: number): boolean {
  if (root.depth === 0) return true; // where the root is `/` there is no outside to be tricked into
  if (root.mountId === undefined) pinByStep(set, root.real, {})[Symbol.dispose](); // learns it
  return root.mountId !== undefined && root.mountId === mountIdOf(fd);
}

function pinByStep(set: RootSet, path: string, options: PinOptions): Pin {
  const walk = new Walk(set, options.asked ?? path);
  try {
    walk.go(path, options);
    return walk.finish(options.directory === true);
  } finally {
    walk.dispose();
  }
}

/** A walk from `/`, holding every directory on the way down so that `..` is a step back and not a question. */
class Walk {
  readonly #set: RootSet;
  readonly #asked: string;
  /** Descriptors from `/` down. All but the last are directories. */
  readonly #trail: number[] = [openSync('/', HOLD_DIRECTORY)];
  #budget = MAX_LINKS;
  #steps = MAX_STEPS;

  constructor(set: RootSet, asked: string) {
    this.#set = set;
    this.#asked = asked;
  }

  go(path: string, options: PinOptions): void {
    const todo = namesOf(path).toReversed();
    for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
      this.#steps -= 1;
      if (this.#steps < 0) throw this.#verdict(name, new LinkLoopError(this.#asked));
      if (name === '.') continue;
      if (name === '..') {
        this.#stepBack();
        continue;
      }
      const step = this.#open(name, options.create);
      if (step === undefined) {
        todo.push(name); // made just now: once more
      } else if (step.stat.isSymbolicLink() && !(options.keepLastLink === true && todo.length === 0)) {
        closeSync(step.fd);
        const text = this.#readLink(name);
        if (text === undefined) {
          todo.push(name); // no link any more: once more
          continue;
        }
        if (text.startsWith('/')) while (this.#trail.length > 1) this.#stepBack();
        todo.push(...namesOf(text).toReversed());
      } else {
        this.#trail.push(step.fd);
        if (!step.stat.isDirectory() && todo.length > 0) {
          this.#stepBack();
          throw this.#verdict(name, new NotADirectoryError(this.#asked));
        }
      }
    }
  }

  /** The pin on the last step, if that is inside the roots. */
  finish(directory: boolean): Pin {
    const fd = this.#top;
    const real = realPathOf(fd, this.#asked);
    const root = this.#set.rootOf(real);
    if (root === undefined) throw new ForbiddenPathError(this.#asked, this.#set.roots);
    if (isGone(fd, real)) throw new NotFoundError(this.#asked);
    if (directory && !fstatSync(fd).isDirectory()) throw new NotADirectoryError(this.#asked);
    const rootFd = this.#trail[root.depth];
    if (rootFd !== undefined) root.mountId = mountIdOf(rootFd);
    this.#trail.pop();
    return new Pin(fd, real, this.#set.withheld);
  }

  dispose(): void {
    for (const fd of this.#trail.splice(0)) closeSync(fd);
  }

  #open(name: string, create: PinOptions['create']): { fd: number; stat: Stats } | undefined {
    const path = this.#entry(name);
    try {
      const fd = openSync(path, HOLD | NO_FOLLOW);
      return { fd, stat: fstatSync(fd) };
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' && create !== undefined && this.#isInside(name)) {
        this.#spend(name);
        this.#make(name, create);
        return undefined;
      }
      throw this.#verdict(name, error);
    }
  }

  #make(name: string, create: { made: number }): void {
    try {
      mkdirSync(this.#entry(name), NEW_DIRECTORY_MODE);
      create.made += 1;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw this.#verdict(name, error);
    }
  }

  #readLink(name: string): string | undefined {
    this.#spend(name);
    try {
      return readLinkText(this.#entry(name));
    } catch (error) {
      if (errnoOf(error) === 'EINVAL') return undefined;
      throw this.#verdict(name, error);
    }
  }

  #spend(name: string): void {
    this.#budget -= 1;
    if (this.#budget < 0) throw this.#verdict(name, new LinkLoopError(this.#asked));
  }

  /** What to say of a failure at `name`: outside the roots nothing, not even whether something is there. */
  #verdict(name: string, error: unknown): unknown {
    if (isShortage(error)) return typedError(error, this.#asked); // says nothing of what is there
    if (this.#set.contains(this.#realOf(name))) return typedError(error, this.#asked);
    return new ForbiddenPathError(this.#asked, this.#set.roots);
  }

  /** What is made has to be inside, and so has what it is made in. */
  #isInside(name: string): boolean {
    return this.#set.contains(realPathOf(this.#top, this.#asked)) && this.#set.contains(this.#realOf(name));
  }

  #realOf(name: string): string {
    const where = realPathOf(this.#top, this.#asked);
    return where === '/' ? `/${name}` : `${where}/${name}`;
  }

  get #top(): number {
    return this.#trail.at(-1) ?? -1;
  }

  #stepBack(): void {
    if (this.#trail.length > 1) closeSync(this.#trail.pop() ?? -1);
  }

  #entry(name: string): string | Buffer {
    return toSystemPath(`${descriptorPath(this.#top)}/${name}`);
  }
}

/** The names of a path. One that ends in a slash means a directory, which a closing `.` asks for. */
function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '');
  if (path.endsWith('/')) names.push('.');
  return names;
}
