// Giving a file a name that nobody else has: rename would silently replace, so the file system is asked to decide.

import { closeSync, constants, linkSync, openSync, renameSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { AlreadyExistsError } from './errors.js';
import type { Place } from './place.js';

const CLAIM = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const NO_LINKS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS', 'EMLINK']);

/**
 * The file at `from` gets the name of `place`, or AlreadyExistsError is thrown. `linked`: it has its old name still,
 * which is the caller's to remove; `renamed`: it has not.
 */
export function takeName(from: string | Buffer, place: Place): 'linked' | 'renamed' {
  try {
    linkSync(from, place.path);
    return 'linked';
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw new AlreadyExistsError(place.asked);
    if (!NO_LINKS.has(errnoOf(error) ?? '')) throw error;
  }
  // A file system without hard links: claim the name, then take it over from ourselves.
  claim(place);
  renameSync(from, place.path);
  return 'renamed';
}

function claim(place: Place): void {
  try {
    closeSync(openSync(place.path, CLAIM, 0o600));
  } catch (error) {
    throw errnoOf(error) === 'EEXIST' ? new AlreadyExistsError(place.asked) : error;
  }
}
