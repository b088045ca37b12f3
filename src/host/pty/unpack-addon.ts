// Loads an add-on out of the text of a bundle. The system loads code from files alone, so it is one for a moment.

import { rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { makePrivateDir } from '../process/private-dir.js';
import { PRIVATE_PLACES } from '../process/private-places.js';

/** What an add-on may come to, so that a damaged text cannot fill the memory. */
export const MAX_ADDON_BYTES = 8 * 1024 * 1024;

/** Throws what the last place had to say. Many a host lets no code be run from where everybody may write. */
export function loadPackedAddon(packed: string, places: readonly string[] = codePlaces()): unknown {
  const bytes = gunzipSync(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_ADDON_BYTES });
  let problem: unknown = new Error('there is no folder for temporary files');
  for (const place of places) {
    const folder = makePrivateDir([place]);
    if (folder === undefined) continue;
    try {
      return loadOnce(join(folder, 'pty.node'), bytes);
    } catch (thrown) {
      problem = thrown;
    } finally {
      rmSync(folder, { recursive: true, force: true }); // what is loaded stays loaded
    }
  }
  throw problem;
}

function loadOnce(file: string, bytes: Buffer): unknown {
  writeFileSync(file, bytes, { mode: 0o500, flag: 'wx' });
  const module = { exports: {} as unknown };
  process.dlopen(module, file);
  return module.exports;
}

/** Containers mount /dev/shm, and careful hosts /tmp, with `noexec`. Where somebody lives there are programs of their own. */
function codePlaces(): string[] {
  return [...PRIVATE_PLACES, '/var/tmp', homedir()];
}
