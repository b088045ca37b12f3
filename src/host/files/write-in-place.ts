// Writing into the file that is there: append, and replace or create without a temporary file.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { AlreadyExistsError, ConflictError } from './errors.js';
import { assertExpected, hashFile } from './expectation.js';
import { NO_FOLLOW } from './pin.js';
import { pinIfThere, type Place } from './place.js';
import { moveMtimeOn, putBytes, syncFile } from './put-bytes.js';
import { openPinnedFile } from './read.js';
import type { RootSet } from './root-set.js';
import type { Turns } from './turns.js';
import { MAX_LINKS } from './walk.js';
import { NEW_FILE_MODE, type Outcome, type WriteOptions } from './write-options.js';

export async function writeInPlace(
  set: RootSet,
  place: Place,
  data: Uint8Array,
  options: WriteOptions,
  turns: Turns,
): Promise<Outcome> {
  const { fd, created } = openTarget(set, place, options);
  let done = false;
  try {
    const seen = options.expect?.sha256 === undefined ? undefined : await hashFile(fd, turns);
    const before = fstatSync(fd);
    assertExpected(place.asked, options.expect, created ? undefined : before, seen);
    if (created && options.permissions !== undefined) fchmodSync(fd, options.permissions);
    if (!created && options.mode !== 'append') ftruncateSync(fd, 0);
    const rest = putBytes(fd, data, turns);
    if (rest !== undefined) await rest;
    const stat: Stats = moveMtimeOn(fd, created ? undefined : before);
    if (options.durable !== false) await syncFile(fd);
    done = true;
    return { size: stat.size, mtimeMs: Math.floor(stat.mtimeMs), created, renamed: false };
  } finally {
    closeSync(fd);
    if (created && !done) removeOwn(place);
  }
}

/** The file that is there, or a new one; between the two looks somebody may make or remove it, so look again. */
function openTarget(set: RootSet, place: Place, options: WriteOptions): { fd: number; created: boolean } {
  const how = constants.O_RDWR | (options.mode === 'append' ? constants.O_APPEND : 0);
  for (let tries = 0; tries < MAX_LINKS; tries++) {
    if (options.mode !== 'create') {
      const fd = openExisting(set, place, how, options.expect?.sha256 !== undefined);
      if (fd !== undefined) return { fd, created: false };
      if (isExpected(options)) throw new ConflictError(place.asked, undefined);
    }
    const fd = openNew(place, how);
    if (fd !== undefined) return { fd, created: true };
    if (options.mode === 'create') throw new AlreadyExistsError(place.asked);
  }
  throw new ConflictError(place.asked, undefined);
}

function openExisting(set: RootSet, place: Place, how: number, readBack: boolean): number | undefined {
  using held = pinIfThere(set, place);
  if (held === undefined) return undefined;
  if (held.stat().isSymbolicLink()) throw new ConflictError(place.asked, undefined); // put there since we looked
  const access = readBack ? how : (how & ~constants.O_RDWR) | constants.O_WRONLY;
  return openPinnedFile(set, held, place.asked, access);
}

function openNew(place: Place, how: number): number | undefined {
  try {
    return openSync(place.path, how | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, NEW_FILE_MODE);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

function isExpected(options: WriteOptions): boolean {
  return options.expect?.mtimeMs !== undefined || options.expect?.sha256 !== undefined;
}

/** A file we made and could not fill. */
function removeOwn(place: Place): void {
  try {
    unlinkSync(place.path);
  } catch {
    // Gone already.
  }
}
