// Removing the folder of a test whose processes may be writing their last lines into it.

import { rmSync } from 'node:fs';

const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** A watcher of a process that was just ended still writes how it ended: such a folder fills again while it is emptied. */
export function removeFolder(folder: string): void {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || Date.now() > end) throw error;
      Atomics.wait(pause, 0, 0, PAUSE_MS);
    }
  }
}
