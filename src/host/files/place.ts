// A place is a name in a pinned directory: what is written, made, moved or removed is always one of these.

import { lstatSync, openSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { ForbiddenPathError, LinkLoopError, NotAFileError, typedError } from './errors.js';
import { cleanPath, readLinkText } from './names.js';
import { HOLD, NO_FOLLOW, Pin, realPathOf } from './pin.js';
import type { RootSet } from './root-set.js';
import { MAX_LINKS, pin, pinDirectory } from './walk.js';

export interface PlaceOptions {
  /** Go on to where a link leads, if the last name is one; the place is then the link's target. */
  readonly follow?: boolean;
  /** Make the directories above it that are missing. */
  readonly create?: { made: number };
}

export class Place implements Disposable {
  readonly parent: Pin;
  readonly name: string;
  /** The path as it was asked for, cleaned. */
  readonly asked: string;

  constructor(parent: Pin, name: string, asked: string) {
    this.parent = parent;
    this.name = name;
    this.asked = asked;
  }

  get path(): string | Buffer {
    return this.parent.at(this.name);
  }

  get real(): string {
    return this.parent.real === '/' ? `/${this.name}` : `${this.parent.real}/${this.name}`;
  }

  /** What is there now, not following a link; undefined for nothing. */
  look(): Stats | undefined {
    return lstatSync(this.path, { throwIfNoEntry: false });
  }

  /** To be asked again after a wait: the directory may have been carried out of the roots meanwhile. */
  assertInside(set: RootSet): void {
    if (!set.contains(realPathOf(this.parent.fd, this.asked))) {
      throw new ForbiddenPathError(this.asked, set.roots);
    }
  }

  /** For what moves, replaces or removes all that is below. Throws ForbiddenPathError. */
  assertChangeable(set: RootSet): void {
    if (set.holdsRoot(this.real)) throw new ForbiddenPathError(this.asked, set.roots, 'root');
    if (set.withheld?.isBelow(this.real) === true)
      throw new ForbiddenPathError(this.asked, set.roots, 'withheld');
  }

  [Symbol.dispose](): void {
    this.parent[Symbol.dispose]();
  }
}

export function locate(set: RootSet, path: string, options: PlaceOptions = {}): Place {
  const asked = cleanPath(path);
  if (asked === '/' || set.roots.includes(asked)) throw new ForbiddenPathError(asked, set.roots, 'root');
  let next = asked;
  for (let links = 0; links <= MAX_LINKS; links++) {
    const place =
      options.follow === true ? placeBehind(set, next, asked, options) : placeOf(set, next, asked, options);
    const link = options.follow === true ? linkAt(place) : undefined;
    if (link === undefined) return place;
    place[Symbol.dispose]();
    // By text, not cleaned: `..` after a link must mean what the kernel takes it to mean.
    next = link.startsWith('/') ? link : `${place.parent.real}/${link}`;
  }
  throw new LinkLoopError(asked);
}

/** A link that stands outside the roots may lead into them: then the place is where it leads, as it is for a reader. */
function placeBehind(set: RootSet, path: string, asked: string, options: PlaceOptions): Place {
  try {
    return placeOf(set, path, asked, options);
  } catch (refusal) {
    if (!(refusal instanceof ForbiddenPathError)) throw refusal;
    using held = pin(set, path, { asked });
    return placeOf(set, held.real, asked, options);
  }
}

function placeOf(set: RootSet, path: string, asked: string, options: PlaceOptions): Place {
  const cut = path.lastIndexOf('/');
  const name = path.slice(cut + 1);
  if (name === '' || name === '.' || name === '..') {
    // Only a link can say that: it leads to a directory, or out.
    pin(set, path, { asked })[Symbol.dispose]();
    throw new NotAFileError(asked, 'dir');
  }
  const parent = pinDirectory(set, cut === 0 ? '/' : path.slice(0, cut), {
    asked,
    ...(options.create !== undefined && { create: options.create }),
  });
  const place = new Place(parent, name, asked);
  if (set.withheld?.has(place.real) !== true) return place;
  place[Symbol.dispose]();
  throw new ForbiddenPathError(asked, set.roots);
}

function linkAt(place: Place): string | undefined {
  try {
    return place.look()?.isSymbolicLink() === true ? readLinkText(place.path) : undefined;
  } catch (error) {
    if (errnoOf(error) === 'EINVAL' || errnoOf(error) === 'ENOENT') return undefined; // a link no more
    place[Symbol.dispose]();
    throw typedError(error, place.asked);
  }
}

/** What is there now, the link itself if it is one; undefined when there is nothing. */
export function pinIfThere(set: RootSet, place: Place): Pin | undefined {
  try {
    return new Pin(openSync(place.path, HOLD | NO_FOLLOW), place.real, set.withheld);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
