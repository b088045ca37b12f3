// A folder for sockets that is the user's alone.

import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Made if need be. Who could enter it, or has put it there, could answer in our name: then it is not used. */
export function isPrivateFolder(folder: string, uid = process.getuid?.() ?? -1): boolean {
  try {
    make(folder);
    const found = lstatSync(folder);
    return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

/** One at a time: Node's own recursive way never returns for a folder below /proc. */
function make(folder: string): void {
  if (existsSync(folder)) return;
  make(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}
