// A directory of our own (0700) for pipes and small files that live for moments; it goes when we do.

import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PRIVATE_NAME, PRIVATE_PLACES } from './private-places.js';
import { isAlive, readPidNamespace, readStat } from './proc-table.js';

const PREFIX = 'hawser-';

/** `hawser-<pid>.<start>.<namespace>-`, then something random: from the name anyone can tell whether its owner still lives. */
export function privateName(): string {
  const start = readStat(process.pid)?.startTicks ?? 0;
  return `${PREFIX}${process.pid}.${start}.${readPidNamespace()}-`;
}

export function makePrivateDir(places: readonly string[] = PRIVATE_PLACES): string | undefined {
  const name = privateName();
  for (const place of places) {
    try {
      const path = mkdtempSync(join(place, name)); // mkdtemp makes it 0700
      process.once('exit', () => removeDir(path));
      return path;
    } catch {
      // no such place, or not for us: the next one
    }
  }
  return undefined;
}

/** Removes what processes that were killed have left. Gives the number of directories removed. */
export function sweepPrivateDirs(places: readonly string[] = PRIVATE_PLACES): number {
  const here = readPidNamespace();
  let removed = 0;
  for (const path of places.flatMap(list)) {
    const [, pid, startTicks, namespace] = PRIVATE_NAME.exec(basename(path)) ?? [];
    // A pid of another namespace says nothing here, and without /proc nothing can be told at all.
    if (pid === undefined || namespace !== here || here === '0') continue;
    if (isAlive({ pid: Number(pid), startTicks: Number(startTicks) })) continue;
    if (isOurs(path) && removeDir(path)) removed += 1;
  }
  return removed;
}

function isOurs(path: string): boolean {
  try {
    return lstatSync(path).uid === process.getuid?.();
  } catch {
    return false;
  }
}

function removeDir(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false; // a leftover of a few inodes is not worth an exception
  }
}

function list(place: string): string[] {
  try {
    return readdirSync(place).map((name) => join(place, name));
  } catch {
    return [];
  }
}
