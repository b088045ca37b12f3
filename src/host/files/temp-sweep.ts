// Removes the temporary files of writers that were killed: the next write to the folder does it.

import { type Dir, lstatSync, opendirSync, unlinkSync } from 'node:fs';
import { lookForOwner, parseOwner } from '../store/lock-owner.js';
import type { Pin } from './pin.js';

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
      if (isLeft(directory, name, prefix)) unlinkSync(directory.at(name));
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
      if (entry.name.startsWith(prefix) && !entry.isDirectory()) names.push(entry.name);
    }
  } catch {
    // May be written but not read: whatever is there stays.
  } finally {
    folder?.closeSync();
  }
  return names;
}

function isLeft(directory: Pin, name: string, prefix: string): boolean {
  const owner = parseOwner(name.slice(prefix.length));
  if (owner === undefined) return false;
  const state = lookForOwner(owner);
  if (state !== 'unknown') return state === 'gone';
  const stat = lstatSync(directory.at(name), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > MAX_UNKNOWN_AGE_MS;
}
