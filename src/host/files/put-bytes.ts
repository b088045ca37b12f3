// Bytes to an open file, all of them, and from there to the disk.

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  futimesSync,
  openSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf } from '../../base/errors.js';
import type { Pin } from './pin.js';
import type { Turns } from './turns.js';

/** One call to the system writes at most this much; up to here an append cannot be torn apart by another. */
const WRITE_SLICE_BYTES = 1024 * 1024;

/** A burst of writes to one file may run ahead of the clock by this much; a date further off is not our doing. */
export const MAX_AHEAD_MS = 2000;

const ALL_PERMISSIONS = 0o7777;
const WITHOUT_SET_ID = 0o1777;

export const syncFile = promisify(fsync);

/**
 * A write may take less than it was given, so it is asked until all is gone. Gives a promise only if it has to take
 * turns: up to a slice, what follows the call follows it at once, with nobody in between.
 */
export function putBytes(fd: number, data: Uint8Array, turns: Turns, from = 0): Promise<void> | undefined {
  for (let at = from; at < data.length; ) {
    at += writeSync(fd, data, at, Math.min(WRITE_SLICE_BYTES, data.length - at));
    if (turns.isOver && at < data.length) return turns.pass().then(() => putBytes(fd, data, turns, at));
  }
  return undefined;
}

/** The new file is to look like the old one. Owner first: changing it clears the set-id bits. */
export function keepOwnerAndMode(fd: number, old: Stats): void {
  const mine = fstatSync(fd);
  const sameOwner = (mine.uid === old.uid && mine.gid === old.gid) || changeOwner(fd, old.uid, old.gid);
  // A set-id bit means "run as the owner". Where the owner could not be kept it would mean somebody else.
  fchmodSync(fd, old.mode & (sameOwner ? ALL_PERMISSIONS : WITHOUT_SET_ID));
}

/**
 * Callers compare whole milliseconds to see whether a file has changed; a second write within one would go unseen.
 * So a write is always later than the one before, by a millisecond if the clock has not moved on.
 */
export function moveMtimeOn(fd: number, before: Stats | undefined): Stats {
  const now = fstatSync(fd);
  const old = Math.floor(before?.mtimeMs ?? Number.NEGATIVE_INFINITY);
  const ahead = old - Math.floor(now.mtimeMs);
  if (ahead < 0 || ahead > MAX_AHEAD_MS) return now;
  try {
    // In the middle of the next millisecond: times travel as seconds in a double, and rounding must not bring it back.
    futimesSync(fd, now.atimeMs / 1000, (old + 1.5) / 1000);
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error; // not our file: its time stays as it is
  }
  return fstatSync(fd);
}

/** Makes names durable: of the directory, and of `above` directories over it that were made for this. */
export async function syncDirectory(directory: Pin, above: number): Promise<void> {
  for (let up = 0; up <= above; up++) {
    let fd: number;
    try {
      fd = openSync(directory.here + '/..'.repeat(up), constants.O_RDONLY | constants.O_DIRECTORY);
    } catch (error) {
      if (errnoOf(error) === 'EACCES') return; // may be written but not read: the kernel offers no other way
      throw error;
    }
    try {
      await syncFile(fd);
    } catch (error) {
      if (errnoOf(error) !== 'EINVAL') throw error; // a file system whose directories need no sync says so
    } finally {
      closeSync(fd);
    }
  }
}

function changeOwner(fd: number, uid: number, gid: number): boolean {
  try {
    fchownSync(fd, uid, gid);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EPERM') throw error;
    return false;
  }
}
