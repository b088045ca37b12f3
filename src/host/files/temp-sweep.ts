// Removes the temporary files of writers that were killed, and puts back what they had put aside: the next write to
// the folder does it.

import { type Dir, lstatSync, opendirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { lookForOwner, parseOwner } from '../store/lock-owner.js';
import { decodeName } from './names.js';
import type { Pin } from './pin.js';
import { Place } from './place.js';
import { openChild } from './read-directory.js';
import { takeName } from './take-name.js';

/** Marks the folder of files that are somebody's, and only out of the way: nothing in it is ever removed. */
export const ASIDE_SUFFIX = '.aside';

/** Folders known to be clean; beyond, all are forgotten, and looked through once more when they are written to. */
export const MAX_SWEPT_DIRECTORIES = 1000;
/** Names looked at in one folder: someone waits for the write, and has to wait for this first. */
export const MAX_SWEPT_ENTRIES = 2000;
/** From when on a file counts as left behind whose writer is in another container or on another machine. */
export const MAX_UNKNOWN_AGE_MS = 24 * 60 * 60 * 1000;

const BATCH = 256;

const swept = new Set<string>();

/** At the first write to a folder only: a process has few of them, and who was killed before us left his files before. */
export function sweepOnce(directory: Pin, prefix: string): void {
  if (swept.has(directory.real)) return;
  if (swept.size >= MAX_SWEPT_DIRECTORIES) swept.clear();
  swept.add(directory.real);
  for (const name of listTemporary(directory, prefix)) {
    try {
      if (!isLeft(directory, name, prefix)) continue;
      if (name.endsWith(ASIDE_SUFFIX)) restore(directory, name);
      else unlinkSync(directory.at(name));
    } catch {
      // Not ours to remove, or gone: no reason not to write.
    }
  }
}

function listTemporary(directory: Pin, prefix: string): string[] {
  const names: string[] = [];
  let folder: Dir | undefined;
  try {
    folder = opendirSync(directory.here, { bufferSize: BATCH });
    for (let seen = 0; seen < MAX_SWEPT_ENTRIES; seen++) {
      const entry = folder.readSync();
      if (entry === null) break;
      const isAside = entry.name.endsWith(ASIDE_SUFFIX);
      if (entry.name.startsWith(prefix) && entry.isDirectory() === isAside) names.push(entry.name);
    }
  } catch {
    // May be written but not read: whatever is there stays.
  } finally {
    folder?.closeSync();
  }
  return names;
}

function isLeft(directory: Pin, name: string, prefix: string): boolean {
  const end = name.endsWith(ASIDE_SUFFIX) ? -ASIDE_SUFFIX.length : undefined;
  const owner = parseOwner(name.slice(prefix.length, end));
  if (owner === undefined) return false;
  const state = lookForOwner(owner);
  if (state !== 'unknown') return state === 'gone';
  const stat = lstatSync(directory.at(name), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > MAX_UNKNOWN_AGE_MS;
}

/** Each file under its own name, unless there is another by now: then it stays where it is. */
function restore(directory: Pin, name: string): void {
  using aside = openChild(directory, name);
  if (aside === undefined) return;
  for (const entry of readdirSync(aside.here, { encoding: 'buffer' }).map(decodeName)) {
    try {
      const from = aside.at(entry);
      if (takeName(from, new Place(directory, entry, entry)) === 'linked') unlinkSync(from);
    } catch {
      // The name is taken.
    }
  }
  rmdirSync(directory.at(name));
}
