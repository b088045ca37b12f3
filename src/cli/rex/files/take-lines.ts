// Some lines out of a stream of bytes, which is read no further than they go.

import type { LineRange } from './parse-range.js';

const NEWLINE = 0x0a;

export async function* takeLines(
  chunks: AsyncIterable<Buffer>,
  { first, last }: LineRange,
): AsyncGenerator<Buffer, void> {
  let line = 1;
  for await (const chunk of chunks) {
    let from = line >= first ? 0 : -1;
    let at = 0;
    while (line <= last) {
      const end = chunk.indexOf(NEWLINE, at);
      if (end === -1) break;
      at = end + 1;
      line += 1;
      if (line === first) from = at;
    }
    const to = line > last ? at : chunk.length;
    if (from !== -1 && to > from) yield chunk.subarray(from, to);
    if (line > last) return;
  }
}
