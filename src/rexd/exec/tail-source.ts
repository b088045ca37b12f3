// The output of a detached process as it grows: read from its file when it is asked for, to the end of the process.

import { setTimeout as delay } from 'node:timers/promises';
import { BadEntryError } from '../../host/process/detached-entry.js';
import type { DetachedRun, OutputName } from '../../host/process/detached-run.js';
import type { DetachedWatch } from '../../host/process/detached-watch.js';
import { COALESCE_BYTES, type ChunkSource } from './coalesce.js';

/** Until a file that could not be read is tried again: descriptors may have run out. */
const RETRY_MS = 50;

export function tailSource(run: DetachedRun, watch: DetachedWatch, stream: OutputName): ChunkSource {
  let at = 0;
  return {
    async read(): Promise<Buffer | undefined> {
      for (;;) {
        // In this order: what is written, or ends, while we read is told of by `changed`; at the end all has been written.
        const changed = watch.next();
        const over = watch.end !== undefined;
        if (watch.closing) return undefined;
        const chunk = await tryRead(run, stream, at);
        if (chunk === 'later') {
          await delay(RETRY_MS, undefined, { ref: false });
          continue;
        }
        at += chunk.length;
        if (chunk.length > 0) return chunk;
        if (over) return undefined;
        await changed;
      }
    },
  };
}

/** Nothing when the file is gone, because it will not come back. */
async function tryRead(run: DetachedRun, stream: OutputName, at: number): Promise<Buffer | 'later'> {
  try {
    return await run.read(stream, at, COALESCE_BYTES);
  } catch (thrown) {
    return thrown instanceof BadEntryError && thrown.isMissing ? Buffer.alloc(0) : 'later';
  }
}
