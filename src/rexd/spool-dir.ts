// Where a server keeps output that does not fit in memory: a folder whose name nobody can guess, made when it is needed.

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../base/ids.js';
import { privateName } from '../host/process/private-dir.js';
import { readStat } from '../host/process/proc-table.js';

let path: string | undefined;

/**
 * Named like every private folder of ours, so that it is swept with them when its server was killed; and with something
 * random, so that nobody who shares /tmp with us can be there first.
 */
export function spoolDir(): string {
  if (path === undefined) {
    const made = join(tmpdir(), `${privateName()}${newId('spool')}`);
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    path = made;
  }
  return path;
}

const FORMER_NAME = /^rexd-(\d+)$/;

/** Folders under the name they had before, of servers that are gone. Gives the number removed. */
export function sweepFormerSpools(place: string = tmpdir()): number {
  let removed = 0;
  for (const name of namesIn(place)) {
    const pid = FORMER_NAME.exec(name)?.[1];
    if (pid === undefined || readStat(Number(pid)) !== undefined) continue;
    const folder = join(place, name);
    try {
      const stat = lstatSync(folder);
      if (!stat.isDirectory() || stat.uid !== process.getuid?.()) continue;
      rmSync(folder, { recursive: true, force: true });
      removed += 1;
    } catch {
      // Gone meanwhile, or not to be removed: it was only a leftover.
    }
  }
  return removed;
}

function namesIn(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}
