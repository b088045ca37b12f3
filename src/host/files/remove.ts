// Removing a file, a link or a directory inside the roots. Links are removed, never followed.

import { rmdirSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { NotADirectoryError, NotFoundError, TooLargeError, typedError } from './errors.js';
import type { Pin } from './pin.js';
import { locate, type Place } from './place.js';
import { syncDirectory } from './put-bytes.js';
import { MAX_WALK_LEVELS, openChild, readDirectory } from './read-directory.js';
import type { RootSet } from './root-set.js';
import { Turns } from './turns.js';

export interface RemoveOptions {
  /** A directory with all that is in it; without, only an empty one. */
  readonly recursive?: boolean;
  readonly durable?: boolean;
  /** Heeded between entries: what is gone is gone. */
  readonly signal?: AbortSignal;
}

export async function removePath(
  set: RootSet,
  path: string,
  options: RemoveOptions = {},
): Promise<{ readonly path: string; readonly removed: number }> {
  const turns = new Turns(options.signal);
  using place = locate(set, path);
  place.assertChangeable(set);
  try {
    const removed = await removePlace(place, options.recursive === true, turns);
    if (options.durable !== false) await syncDirectory(place.parent, 0);
    return { path: place.asked, removed };
  } catch (error) {
    throw typedError(error, place.asked);
  }
}

/** How many entries were removed. */
export async function removePlace(place: Place, recursive: boolean, turns: Turns): Promise<number> {
  const stat = place.look();
  if (stat === undefined) throw new NotFoundError(place.asked);
  if (!stat.isDirectory()) {
    unlinkSync(place.path);
    return 1;
  }
  const removed = recursive ? await emptyDirectory(place.parent, place.name, place.asked, turns, 1) : 0;
  rmdirSync(place.path);
  return removed + 1;
}

async function emptyDirectory(
  parent: Pin,
  name: string,
  asked: string,
  turns: Turns,
  level: number,
): Promise<number> {
  if (level > MAX_WALK_LEVELS) throw new TooLargeError(asked, level, MAX_WALK_LEVELS, 'levels');
  using directory = openChild(parent, name);
  if (directory === undefined) throw new NotADirectoryError(asked); // replaced since: not what was to be removed
  let removed = 0;
  for (let more = true; more; ) {
    const { entries, truncated } = await readDirectory(directory, turns);
    more = truncated;
    for (const entry of entries) {
      if (entry.isDirectory()) {
        removed += await emptyDirectory(directory, entry.name, asked, turns, level + 1);
        rmdirSync(directory.at(entry.name));
      } else unlinkQuietly(directory, entry.name);
      removed += 1;
      if (turns.isOver) await turns.pass();
    }
  }
  return removed;
}

/** Somebody else may have been quicker. */
function unlinkQuietly(directory: Pin, name: string): void {
  try {
    unlinkSync(directory.at(name));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
