// The atomic write: all of it in a temporary file, checked, and put in place by one rename.

import { fchmodSync, type Stats } from 'node:fs';
import { AlreadyExistsError, ConflictError, NotAFileError } from './errors.js';
import { assertExpected, hashIfAsked } from './expectation.js';
import { typeOf } from './pin.js';
import type { Place } from './place.js';
import { keepOwnerAndMode, moveMtimeOn, putBytes, syncFile } from './put-bytes.js';
import type { RootSet } from './root-set.js';
import { TempFile } from './temp-file.js';
import type { Turns } from './turns.js';
import { NEW_FILE_MODE, type Outcome, type WriteOptions } from './write-options.js';

/** Of a temporary file that is to replace another: nobody else's until the old file's mode is on it. */
const PRIVATE_MODE = 0o600;

export async function writeAtomically(
  set: RootSet,
  place: Place,
  data: Uint8Array,
  options: WriteOptions,
  turns: Turns,
): Promise<Outcome> {
  const before = lookForFile(place, options); // here too: what is bound to fail should fail before the work
  if (options.expect?.mtimeMs !== undefined) {
    assertExpected(place.asked, { mtimeMs: options.expect.mtimeMs }, before);
  }
  using temp = new TempFile(place.parent, before === undefined ? NEW_FILE_MODE : PRIVATE_MODE);
  await putBytes(temp.fd, data, turns);
  if (before !== undefined) keepOwnerAndMode(temp.fd, before);
  else if (options.permissions !== undefined) fchmodSync(temp.fd, options.permissions);
  if (options.durable !== false) await syncFile(temp.fd);
  const seen = await hashIfAsked(set, place, options.expect, turns);
  options.signal?.throwIfAborted();
  // From here on nothing waits: what is checked is what is replaced, as nearly as two system calls allow.
  place.assertInside(set);
  const now = lookForFile(place, options);
  assertExpected(place.asked, options.expect, now, seen);
  if (now !== undefined && !hasSameLook(before, now)) keepOwnerAndMode(temp.fd, now);
  const { size, mtimeMs } = moveMtimeOn(temp.fd, now);
  if (options.mode === 'create') temp.settle(place);
  else temp.replace(place);
  return { size, mtimeMs: Math.floor(mtimeMs), created: now === undefined, renamed: true };
}

/** What is there, if it may be replaced. */
function lookForFile(place: Place, options: WriteOptions): Stats | undefined {
  const stat = place.look();
  if (stat === undefined) return undefined;
  if (options.mode === 'create') throw new AlreadyExistsError(place.asked);
  // Links were followed to get here: one that is here now was put here since, and replacing it would be a surprise.
  if (stat.isSymbolicLink()) throw new ConflictError(place.asked, undefined);
  if (!stat.isFile()) throw new NotAFileError(place.asked, typeOf(stat));
  return stat;
}

function hasSameLook(before: Stats | undefined, now: Stats): boolean {
  return before !== undefined && before.mode === now.mode && before.uid === now.uid && before.gid === now.gid;
}
