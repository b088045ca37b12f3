import { isUtf8 } from 'node:buffer';
import { tmpdir } from 'node:os';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputSpool } from '../../../../src/host/process/spool.js';
import { COALESCE_BYTES, type ChunkSource } from '../../../../src/rexd/exec/coalesce.js';
import { OutputBudget } from '../../../../src/rexd/exec/output-budget.js';
import { OutputFramer } from '../../../../src/rexd/exec/output-frame.js';
import { OutputStream } from '../../../../src/rexd/exec/output-stream.js';
import { runs } from '../../../helpers/runs.js';

const MIB = 1024 * 1024;

interface Piece {
  readonly seq: number;
  readonly encoding: 'utf8' | 'base64';
  readonly data: string;
}

interface Result {
  readonly pieces: Piece[];
  readonly bytes: Buffer;
  readonly kept: Buffer;
  readonly counted: number;
  readonly exceeded: number;
  readonly longestLine: number;
}

function sourceOf(chunks: readonly Uint8Array[]): ChunkSource {
  const left = [...chunks];
  return {
    read: () => {
      const next = left.shift();
      return Promise.resolve(next === undefined ? undefined : Buffer.from(next));
    },
  };
}

async function stream(chunks: readonly Uint8Array[], maxBytes = Infinity): Promise<Result> {
  const lines: string[] = [];
  let exceeded = 0;
  await using spool = new OutputSpool({ dir: tmpdir(), inlineBytes: 4 * MIB, maxBytes: 4 * MIB });
  const output = new OutputStream({
    source: sourceOf(chunks),
    budget: new OutputBudget(maxBytes, () => (exceeded += 1)),
    framer: new OutputFramer('exec.stdout', { session_id: 's', process_id: 'p' }),
    spool,
    sink: (line) => {
      lines.push(Buffer.from(line).toString('utf8'));
      return undefined;
    },
  });
  await output.run();
  const pieces = lines.map((line) => (JSON.parse(line) as { params: Piece }).params);
  const parts: Buffer[] = [];
  for (let offset = 0; offset < spool.kept; offset += MIB) parts.push(await spool.read(offset, MIB));
  return {
    pieces,
    bytes: Buffer.concat(pieces.map(({ data, encoding }) => Buffer.from(data, encoding))),
    kept: Buffer.concat(parts),
    counted: output.bytes,
    exceeded,
    longestLine: Math.max(0, ...lines.map((line) => Buffer.byteLength(line))),
  };
}

const chunk = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(text)),
);

test('arbitrary bytes in arbitrary chunks come together again, in order and counted', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 12 }), async (chunks) => {
      const all = Buffer.concat(chunks);
      const { bytes, kept, counted, pieces, exceeded } = await stream(chunks);
      expect(bytes).toEqual(all);
      expect(kept).toEqual(all);
      expect(counted).toBe(all.length);
      expect(exceeded).toBe(0);
      expect(pieces.map(({ seq }) => seq)).toEqual(pieces.map((_, index) => index + 1));
      expect(pieces.every(({ data }) => data !== '')).toBe(true);
    }),
    { numRuns: runs(3000) },
  );
});

test('text is sent as text wherever its bytes were cut apart', async () => {
  const cuts = fc.array(fc.nat(400), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 100 }), cuts, async (text, places) => {
      const { pieces } = await stream(cutAt(Buffer.from(text), places));
      expect(pieces.every(({ encoding }) => encoding === 'utf8')).toBe(true);
      expect(pieces.map(({ data }) => data).join('')).toBe(text);
    }),
    { numRuns: runs(2000) },
  );
});

test('of every output exactly the beginning that the budget allows is delivered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), fc.nat(150), async (chunks, max) => {
      const all = Buffer.concat(chunks);
      const { bytes, kept, counted, exceeded } = await stream(chunks, max);
      expect(bytes).toEqual(all.subarray(0, max));
      expect(kept).toEqual(bytes);
      expect(counted).toBe(bytes.length);
      expect(exceeded).toBe(all.length > max ? 1 : 0);
    }),
    { numRuns: runs(2000) },
  );
});

test('no line reaches 1 MiB, also of bytes that are six times as long on the wire', async () => {
  for (const byte of [0, 0x41, 0xff]) {
    const big = Buffer.alloc(MIB, byte);
    const { bytes, longestLine } = await stream([big, big]);
    expect(bytes.equals(Buffer.concat([big, big]))).toBe(true);
    expect(longestLine).toBeLessThan(COALESCE_BYTES * 6 + 1024);
  }
});

test('a long text is cut between characters only', async () => {
  const text = Buffer.from(`x${'✓'.repeat(100_000)}`);
  const { pieces, bytes } = await stream([text]);
  expect(isUtf8(text) && bytes.equals(text)).toBe(true);
  expect(pieces.every(({ encoding }) => encoding === 'utf8')).toBe(true);
});

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const borders = [
    0,
    ...places.filter((place) => place < bytes.length).toSorted((a, b) => a - b),
    bytes.length,
  ];
  return borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
}
