// The output of a detached process as it grows: read from its file when it is asked for, to the end of the process.

import type { DetachedRun, OutputName } from '../../host/process/detached-run.js';
import type { DetachedWatch } from '../../host/process/detached-watch.js';
import { COALESCE_BYTES, type ChunkSource } from './coalesce.js';

export function tailSource(run: DetachedRun, watch: DetachedWatch, stream: OutputName): ChunkSource {
  let at = 0;
  return {
    async read(): Promise<Buffer | undefined> {
      for (;;) {
        // In this order: what is written, or ends, while we read is told of by `changed`; at the end all has been written.
        const changed = watch.next();
        const over = watch.end !== undefined || watch.closing;
        const chunk = await run.read(stream, at, COALESCE_BYTES).catch(() => Buffer.alloc(0));
        at += chunk.length;
        if (chunk.length > 0) return chunk;
        if (over) return undefined;
        await changed;
      }
    },
  };
}
