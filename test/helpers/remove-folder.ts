// Removing the folder of a test whose processes may be writing their last lines into it.

import { rmSync } from 'node:fs';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 20;
const pause = new Int32Array(new SharedArrayBuffer(4));
/** Something came into a folder, or went from it, while it was emptied. */
const CHANGED = new Set(['ENOTEMPTY', 'ENOENT', 'ENOTDIR', 'EBUSY']);

/** A watcher of a process that was just ended still writes how it ended: such a folder changes while it is emptied. */
export function removeFolder(folder: string): void {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (!CHANGED.has((error as NodeJS.ErrnoException).code ?? '') || Date.now() > end) throw error;
      Atomics.wait(pause, 0, 0, PAUSE_MS);
    }
  }
}
