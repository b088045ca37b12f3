// A file that is nobody's yet: written under a name of its own, it takes its place in one step or goes without a trace.

import { closeSync, constants, openSync, renameSync, unlinkSync } from 'node:fs';
import { formatOwner, newOwner } from '../store/lock-owner.js';
import type { Pin } from './pin.js';
import type { Place } from './place.js';
import { takeName } from './take-name.js';
import { ASIDE_SUFFIX, sweepOnce } from './temp-sweep.js';

/** Not made from the target's name: that may already have all the 255 bytes a name can have. */
export const TEMP_PREFIX = '.hawser-';

const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** From the name anyone can tell whether whoever writes the file still lives. */
export function newTempName(): string {
  return TEMP_PREFIX + formatOwner(newOwner());
}

/** Of a folder for files that are out of the way for a moment, under their own names: a sweep puts them back. */
export function newAsideName(): string {
  return newTempName() + ASIDE_SUFFIX;
}

export class TempFile implements Disposable {
  readonly fd: number;
  readonly #path: string | Buffer;
  #exists = true;

  /** In the same directory as the target, so that taking its place is a rename and not a copy. */
  constructor(directory: Pin, mode: number) {
    sweepOnce(directory, TEMP_PREFIX);
    this.#path = directory.at(newTempName());
    this.fd = openSync(this.#path, NEW_FILE, mode);
  }

  /** Takes the place of whatever is there. */
  replace(place: Place): void {
    renameSync(this.#path, place.path);
    this.#exists = false;
  }

  /** Takes an empty place, or throws AlreadyExistsError; the file system decides who was first. */
  settle(place: Place): void {
    this.#exists = takeName(this.#path, place) === 'linked';
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    if (!this.#exists) return;
    try {
      unlinkSync(this.#path);
    } catch {
      // Gone, or its directory is: either way there is nothing left to tidy.
    }
  }
}
