// A folder and the missing ones above it, for our own files: private, made one at a time.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Not Node's own recursive way, which never returns for a folder below /proc. */
export function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    if (!existsSync(folder)) throw thrown; // another process that starts at the same time may have been quicker
  }
}
