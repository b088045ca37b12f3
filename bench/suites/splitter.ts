// splitter: how fast bytes become lines, beside a bare search for the newlines.

import { pathToFileURL } from 'node:url';
import type * as SplitLinesModule from '../bundled/split-lines.js';
import type { SplitLines } from '../bundled/split-lines.js';
import { bundle } from '../harness/bundle.js';
import { ownCpuMs } from '../harness/cpu-time.js';
import type { Case, Contender, Role, Suite } from '../harness/types.js';

/** What a pipe gives at once. */
const CHUNK_BYTES = 64 * 1024;
const INPUT_BYTES = 8 * 1024 * 1024;
const OURS = 'LineSplitter';
const LINES = [
  { name: '200 B lines', lineBytes: 200, bound: 0.7 },
  { name: '4 KiB lines', lineBytes: 4096 },
  { name: '1 MiB lines', lineBytes: 1024 * 1024 },
];

export const splitterSuite: Suite = {
  name: 'splitter',
  summary: 'NDJSON line splitter throughput, vs Buffer.indexOf alone over the same chunks',
  async prepare() {
    const built = await bundle(new URL('../bundled/split-lines.ts', import.meta.url));
    const ways = (await import(pathToFileURL(built).href)) as typeof SplitLinesModule;
    return LINES.map(({ name, lineBytes, bound }): Case => {
      const chunks = makeChunks(lineBytes, INPUT_BYTES, CHUNK_BYTES);
      return {
        name,
        measure: 'rate',
        unit: 'MB/s',
        scale: totalBytes(chunks) / 1e6,
        contenders: [
          contender('Buffer.indexOf', 'limit', chunks, ways.searchOnly),
          contender(OURS, 'ours', chunks, ways.makeSplitter()),
          contender("toString + split('\\n')", 'reference', chunks, ways.splitStrings),
        ],
        targets: bound === undefined ? [] : [{ contender: OURS, bound }],
      };
    });
  },
};

function contender(name: string, role: Role, chunks: readonly Buffer[], split: SplitLines): Contender {
  const expected = split(chunks);
  return {
    name,
    role,
    run(ops) {
      let lines = 0;
      for (let i = 0; i < ops; i++) lines += split(chunks);
      if (lines !== expected * ops) throw new Error(`${name} lost lines`);
    },
    cpuMs: ownCpuMs,
  };
}

/** Whole lines of `lineBytes` (newline included), cut where a pipe would cut them: anywhere. */
function makeChunks(lineBytes: number, inputBytes: number, chunkBytes: number): Buffer[] {
  const lines = Math.ceil(inputBytes / lineBytes);
  const input = Buffer.alloc(lines * lineBytes, `${'x'.repeat(lineBytes - 1)}\n`);
  const chunks: Buffer[] = [];
  for (let at = 0; at < input.length; at += chunkBytes) {
    chunks.push(Buffer.from(input.subarray(at, at + chunkBytes))); // a buffer of its own, as a read gives
  }
  return chunks;
}

function totalBytes(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}
