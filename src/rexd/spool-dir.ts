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
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    path = made;
  }
  return path;
}
