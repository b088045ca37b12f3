// Where a server keeps output that does not fit in memory: a folder whose name nobody can guess, made when it is needed.

import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../base/ids.js';
import { privateName } from '../host/process/private-dir.js';

let path: string | undefined;

/**
 * Named like every private folder of ours, so that it is swept with them when its server was killed; and with something
 * random, so that nobody who shares /tmp with us can be there first.
 */
export function spoolDir(): string {
  if (path === undefined) {
    const made = join(tmpdir(), `${privateName()}${newId('spool')}`);
    process.once('exit', () => remove(made));
    path = made;
  }
  return path;
}

/** Where nothing could be made there may be nothing that can be removed: a TMPDIR that is a file, say. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Swept with the other private folders, if it is there at all.
  }
}
