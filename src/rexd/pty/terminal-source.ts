// What a terminal shows, as chunks to be taken one after the other.

import type { Pty } from '../../host/pty/pty.js';
import type { ChunkSource } from '../exec/coalesce.js';

/** The program waits while nobody takes: asking for the next chunk is what makes room. */
export function terminalSource(terminal: Pick<Pty, 'read'>): ChunkSource {
  let at = 0;
  return {
    async read(): Promise<Buffer | undefined> {
      const next = await terminal.read(at);
      if (next === undefined) return undefined;
      at = next.at + next.data.length;
      return next.data;
    },
  };
}
