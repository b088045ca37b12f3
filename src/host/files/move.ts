// Moving a file, a link or a directory inside the roots.

import { chmodSync, mkdirSync, renameSync, rmdirSync, type Stats, symlinkSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { AlreadyExistsError, NotAFileError, NotFoundError, typedError } from './errors.js';
import { InvalidPathError } from './path-errors.js';
import { type CopyOptions, copyTo } from './copy.js';
import { isInside } from './is-inside.js';
import { readLinkText, toSystemPath } from './names.js';
import { locate, type Place } from './place.js';
import { syncDirectory } from './put-bytes.js';
import { openChild, openEntry } from './read-directory.js';
import { removePlace } from './remove.js';
import type { RootSet } from './root-set.js';
import { takeName } from './take-name.js';
import { newTempName } from './temp-file.js';
import { Turns } from './turns.js';

/** `overwrite`: take the place of what is there, as rename does: a file of a file, a directory of an empty one. */
export type MoveOptions = CopyOptions;

export async function movePath(
  set: RootSet,
  from: string,
  to: string,
  options: MoveOptions = {},
): Promise<{ readonly path: string }> {
  using source = locate(set, from);
  using target = locate(set, to);
  for (const place of [source, target]) place.assertChangeable(set);
  try {
    const stat = source.look();
    if (stat === undefined) throw new NotFoundError(source.asked);
    if (stat.isDirectory() && isInside(target.real, source.real)) {
      throw new InvalidPathError(target.asked, 'inside what is moved');
    }
    if (options.overwrite === true) await rename(set, source, target, options);
    else await moveToEmpty(set, source, target, stat, options);
    if (options.durable !== false) {
      await syncDirectory(target.parent, 0);
      await syncDirectory(source.parent, 0);
    }
  } catch (error) {
    throw typedError(error, target.asked);
  }
  return { path: target.asked };
}

/** `rename` would replace what is there. A name is first taken in a way that fails if somebody else has it. */
async function moveToEmpty(
  set: RootSet,
  source: Place,
  target: Place,
  stat: Stats,
  options: MoveOptions,
): Promise<void> {
  if (target.look() !== undefined) throw new AlreadyExistsError(target.asked);
  if (stat.isDirectory()) {
    mkdirSync(target.path);
    try {
      await rename(set, source, target, options);
    } catch (error) {
      removeEmpty(target);
      throw error;
    }
    return;
  }
  try {
    if (takeName(source.path, target) === 'linked') dropOldName(source, target);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    await moveAcross(set, source, target, options);
  }
}

/** A file that cannot lose its old name has not been moved, so it must not keep the new one either. */
function dropOldName(source: Place, target: Place): void {
  try {
    unlinkSync(source.path);
  } catch (error) {
    unlinkSync(target.path);
    throw error;
  }
}

async function rename(set: RootSet, source: Place, target: Place, options: MoveOptions): Promise<void> {
  try {
    renameSync(source.path, target.path);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    await moveAcross(set, source, target, options);
  }
}

/** Onto another file system there is only copying, to the same end; the source goes when the copy is there. */
async function moveAcross(set: RootSet, source: Place, target: Place, options: MoveOptions): Promise<void> {
  const stat = source.look();
  if (stat?.isDirectory() === true) await copyTree(set, source, target, options);
  else if (stat?.isSymbolicLink() === true) copyLink(source, target, options);
  else await copyContent(set, source, target, options);
  await removePlace(source, true, new Turns(options.signal));
}

/** What is there may only be an empty directory: one that may be replaced, or ours. A failure brings it back. */
async function copyTree(set: RootSet, source: Place, target: Place, options: MoveOptions): Promise<void> {
  const replaced = target.look();
  if (replaced !== undefined) rmdirSync(target.path); // says what rename would say of anything else
  try {
    await copyContent(set, source, target, options);
  } catch (error) {
    if (replaced !== undefined) restoreDirectory(target, replaced.mode);
    throw error;
  }
}

function copyLink(source: Place, target: Place, options: MoveOptions): void {
  const text = toSystemPath(readLinkText(source.path));
  if (options.overwrite !== true) return symlinkSync(text, target.path);
  const temporary = target.parent.at(newTempName());
  symlinkSync(text, temporary);
  try {
    renameSync(temporary, target.path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

async function copyContent(set: RootSet, source: Place, target: Place, options: MoveOptions): Promise<void> {
  using held = openEntry(source.parent, source.name);
  // The last step would find out as well, but only when all has been copied.
  if (options.overwrite === true && target.look()?.isDirectory() === true)
    throw new NotAFileError(target.asked, 'dir');
  await copyTo(set, held, target, options);
}

function restoreDirectory(place: Place, mode: number): void {
  try {
    mkdirSync(place.path);
    using made = openChild(place.parent, place.name); // by name, a link put there since would be followed
    if (made !== undefined) chmodSync(made.here, mode & 0o7777);
  } catch {
    // Somebody has taken the name meanwhile, or the directory above is gone: the first error counts.
  }
}

/** The directory by which the name was taken; if somebody has put something in it, it stays. */
function removeEmpty(place: Place): void {
  try {
    rmdirSync(place.path);
  } catch {
    // Not a directory, not empty, or not there.
  }
}
