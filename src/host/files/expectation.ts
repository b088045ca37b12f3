// "Only if it is still the file I have seen": the check before a write, made as late as possible.

import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, readSync, type Stats } from 'node:fs';
import { ConflictError, type CurrentState } from './errors.js';
import { FilesError } from './path-errors.js';
import { pinIfThere, type Place } from './place.js';
import { openPinnedFile } from './read.js';
import type { RootSet } from './root-set.js';
import type { Turns } from './turns.js';

export interface Expectation {
  /** Whole milliseconds, as `stat` and `read` gave them. */
  readonly mtimeMs?: number;
  /** Lower-case hex of the whole content. */
  readonly sha256?: string;
}

/** What was hashed, so that a change after hashing can be seen. */
export interface Seen {
  readonly stat: Stats;
  readonly sha256: string;
}

const HASH_SLICE_BYTES = 1024 * 1024;
/** A conflict about a larger file is told without its sum: nobody who cannot read it at once could use it. */
export const MAX_TOLD_BYTES = 64 * 1024 * 1024;

/** The content as it is now, if the expectation asks for it. Gives way to others while hashing a large file. */
export async function hashIfAsked(
  set: RootSet,
  place: Place,
  expect: Expectation | undefined,
  turns: Turns,
): Promise<Seen | undefined> {
  if (expect?.sha256 === undefined) return undefined;
  const fd = openThere(set, place);
  if (fd === undefined) return undefined;
  try {
    return await hashFile(fd, turns);
  } finally {
    closeSync(fd);
  }
}

/** Throws ConflictError unless `now`, what is there at this moment, is what was expected. */
export function assertExpected(
  asked: string,
  expect: Expectation | undefined,
  now: Stats | undefined,
  seen?: Seen,
): void {
  if (expect === undefined || (expect.mtimeMs === undefined && expect.sha256 === undefined)) return;
  const current = now === undefined ? undefined : { mtimeMs: Math.floor(now.mtimeMs), size: now.size };
  const sameTime = expect.mtimeMs === undefined || expect.mtimeMs === current?.mtimeMs;
  const sameContent =
    expect.sha256 === undefined || (seen?.sha256 === expect.sha256.toLowerCase() && isSame(seen.stat, now));
  if (current === undefined || !sameTime || !sameContent) throw new ConflictError(asked, current);
}

/** What is there now, for whoever has to be told that it is not what was expected. Undefined for nothing. */
export async function currentVersion(
  set: RootSet,
  place: Place,
  turns: Turns,
): Promise<CurrentState | undefined> {
  const stat = place.look();
  if (stat === undefined || !stat.isFile()) return undefined;
  const facts = { mtimeMs: Math.floor(stat.mtimeMs), size: stat.size };
  const fd = stat.size > MAX_TOLD_BYTES ? undefined : openIfReadable(set, place);
  if (fd === undefined) return facts;
  try {
    const seen = await hashFile(fd, turns);
    // Changed while it was read: its sum would be of no version there ever was.
    return isSame(seen.stat, fstatSync(fd)) && isSame(seen.stat, place.look())
      ? { mtimeMs: Math.floor(seen.stat.mtimeMs), size: seen.stat.size, sha256: seen.sha256 }
      : facts;
  } finally {
    closeSync(fd);
  }
}

export async function hashFile(fd: number, turns: Turns): Promise<Seen> {
  const stat = fstatSync(fd);
  const hash = createHash('sha256');
  const slice = Buffer.allocUnsafe(Math.min(HASH_SLICE_BYTES, Math.max(1, stat.size)));
  for (let at = 0; ; ) {
    const count = readSync(fd, slice, 0, slice.length, at);
    if (count === 0) break;
    hash.update(slice.subarray(0, count));
    at += count;
    if (turns.isOver) await turns.pass();
  }
  return { stat, sha256: hash.digest('hex') };
}

function openThere(set: RootSet, place: Place): number | undefined {
  using held = pinIfThere(set, place);
  if (held === undefined) return undefined;
  return openPinnedFile(set, held, place.asked, constants.O_RDONLY);
}

function openIfReadable(set: RootSet, place: Place): number | undefined {
  try {
    return openThere(set, place);
  } catch (error) {
    if (error instanceof FilesError) return undefined; // may be written, not read
    throw error;
  }
}

function isSame(seen: Stats, now: Stats | undefined): boolean {
  return (
    now !== undefined &&
    seen.ino === now.ino &&
    seen.dev === now.dev &&
    seen.size === now.size &&
    seen.mtimeMs === now.mtimeMs &&
    seen.ctimeMs === now.ctimeMs
  );
}
