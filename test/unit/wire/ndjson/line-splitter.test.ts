import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  KEPT_LINE_BYTES,
  LineSplitter,
  MAX_LINE_BYTES,
  OVERSIZE_BEGINNING_BYTES,
} from '../../../../src/wire/ndjson/line-splitter.js';
import { runs } from '../../../helpers/runs.js';

/** Lines as text, an oversize one as `!`; the same for those who keep lines and for those who read them at once. */
function split(chunks: readonly (string | Buffer)[], maxLineBytes?: number): string[] {
  const kept = splitBy(false, chunks, maxLineBytes);
  expect(splitBy(true, chunks, maxLineBytes)).toEqual(kept);
  return kept;
}

function splitBy(readAtOnce: boolean, chunks: readonly (string | Buffer)[], maxLineBytes?: number): string[] {
  const seen: string[] = [];
  const splitter = new LineSplitter((bytes, start, end) => seen.push(bytes.toString('latin1', start, end)), {
    ...(maxLineBytes !== undefined && { maxLineBytes }),
    onOversize: () => seen.push('!'),
    readAtOnce,
  });
  for (const chunk of chunks) {
    const bytes = Buffer.from(chunk);
    splitter.push(bytes);
    if (readAtOnce) bytes.fill('#'); // it is free to be used again
  }
  splitter.end();
  return seen;
}

test('lines come whole, whatever the chunks', () => {
  expect(split(['one\ntwo\n'])).toEqual(['one', 'two']);
  expect(split(['o', 'ne', '\ntw', 'o\n'])).toEqual(['one', 'two']);
  expect(split(['one', '\n', 'two', '\n'])).toEqual(['one', 'two']);
});

test('empty lines are lines, and nothing after the last newline is none', () => {
  expect(split(['\n\na\n\n'])).toEqual(['', '', 'a', '']);
  expect(split([''])).toEqual([]);
});

test('bytes are not changed: a carriage return stays', () => {
  expect(split(['a\r\nb\r', '\n'])).toEqual(['a\r', 'b\r']);
  expect(split([Buffer.from([0, 255, 128, 10, 13])])).toEqual(['\u0000\u00ff\u0080', '\r']);
});

test('the last line needs no newline', () => {
  expect(split(['a\nb'])).toEqual(['a', 'b']);
  expect(split(['a', 'b'])).toEqual(['ab']);
});

test('a splitter that has ended can be used again', () => {
  const seen: string[] = [];
  const splitter = new LineSplitter((bytes, start, end) => seen.push(bytes.toString('utf8', start, end)));
  splitter.push(Buffer.from('a'));
  splitter.end();
  splitter.end();
  splitter.push(Buffer.from('b\n'));
  expect(seen).toEqual(['a', 'b']);
});

test('a line may be kept: its bytes are not written to again', () => {
  const kept: Buffer[] = [];
  const splitter = new LineSplitter((bytes, start, end) => kept.push(bytes.subarray(start, end)));
  const lines = Array.from({ length: 5000 }, (_, i) => `line ${i}`);
  const bytes = Buffer.from(lines.join('\n'));
  for (let at = 0; at < bytes.length; at += 7) splitter.push(Buffer.from(bytes.subarray(at, at + 7)));
  splitter.end();
  expect(kept.map(String)).toEqual(lines);
});

/** The memory in which each line came. */
function memoryOf(lines: readonly string[]): { seen: string[]; memory: ArrayBufferLike[] } {
  const seen: string[] = [];
  const memory: ArrayBufferLike[] = [];
  const splitter = new LineSplitter(
    (bytes, start, end) => {
      seen.push(bytes.toString('latin1', start, end));
      memory.push(bytes.buffer);
    },
    { readAtOnce: true },
  );
  for (const line of lines) {
    splitter.push(Buffer.from(line.slice(0, 10)));
    splitter.push(Buffer.from(`${line.slice(10)}\n`));
  }
  return { seen, memory };
}

test('long lines that are read at once come in the same memory, one after the other', () => {
  const lines = ['a', 'b', 'c'].map((letter, i) => letter.repeat(1_000_000 - i));
  const { seen, memory } = memoryOf(lines);
  expect(seen).toEqual(lines);
  expect(new Set(memory).size).toBe(1);
});

test('the memory of a line over KEPT_LINE_BYTES is not kept for the next', () => {
  const lines = ['a', 'b'].map((letter) => letter.repeat(KEPT_LINE_BYTES + 1));
  const { seen, memory } = memoryOf(lines);
  expect(seen).toEqual(lines);
  expect(new Set(memory).size).toBe(2);
});

test('what is pushed while a line is being read does not touch it, nor does a line of another splitter', () => {
  const seen: string[] = [];
  const read = (bytes: Buffer, start: number, end: number): void => {
    if (seen.length === 0) {
      seen.push('');
      feedInTwo(same, 'c'.repeat(900_000));
      feedInTwo(other, 'd'.repeat(900_000));
      seen[0] = bytes.toString('latin1', start, end);
      return;
    }
    seen.push(bytes.toString('latin1', start, end));
  };
  const same = new LineSplitter(read, { readAtOnce: true });
  const other = new LineSplitter(read, { readAtOnce: true });
  const first = 'a'.repeat(1_000_000);
  same.push(Buffer.from(first));
  other.push(Buffer.from('b'.repeat(500_000)));
  same.push(Buffer.from('\n'));
  expect(seen).toEqual([first, 'c'.repeat(900_000), 'b'.repeat(500_000) + 'd'.repeat(900_000)]);
});

function feedInTwo(splitter: LineSplitter, line: string): void {
  splitter.push(Buffer.from(line));
  splitter.push(Buffer.from('\n'));
}

test('a line over the cap is reported once, and the next line is served', () => {
  expect(split(['abcd\nabcde\nx\n'], 4)).toEqual(['abcd', '!', 'x']);
  expect(split(['abc', 'de', 'fghijklm', 'n\nx\n'], 4)).toEqual(['!', 'x']);
  expect(split(['abcd', '\n', 'abcd', 'e'], 4)).toEqual(['abcd', '!']);
});

test('an oversize report says how much has come, and nothing of the line is held', () => {
  const sizes: number[] = [];
  const splitter = new LineSplitter(() => {}, {
    maxLineBytes: 10_000,
    onOversize: (size) => sizes.push(size),
  });
  for (let i = 0; i < 100; i++) {
    splitter.push(Buffer.alloc(1500, 'x'));
    expect(splitter.heldBytes).toBeLessThanOrEqual(10_000);
  }
  expect(sizes).toEqual([10_500]);
  expect(splitter.heldBytes).toBe(0);
});

test('an oversize report brings how the line begins, in whatever pieces it came', () => {
  const line = `{"id":1,${'y'.repeat(20_000)}`;
  for (const size of [1, 7, 100, 5000, 30_000]) {
    const seen: string[] = [];
    const splitter = new LineSplitter(() => {}, {
      maxLineBytes: 10_000,
      onOversize: (_size, beginning) => seen.push(beginning.toString()),
    });
    for (let at = 0; at < line.length; at += size) splitter.push(Buffer.from(line.slice(at, at + size)));
    splitter.push(Buffer.from('\n'));
    expect(seen).toEqual([line.slice(0, OVERSIZE_BEGINNING_BYTES)]);
  }
});

test('unless told otherwise a line has 16 MiB at most', () => {
  const lines: number[] = [];
  const oversize: number[] = [];
  const splitter = new LineSplitter((_bytes, start, end) => lines.push(end - start), {
    onOversize: (size) => oversize.push(size),
  });
  splitter.push(Buffer.alloc(MAX_LINE_BYTES, 'x'));
  splitter.push(Buffer.from('\n'));
  expect([lines, oversize]).toEqual([[MAX_LINE_BYTES], []]);
  splitter.push(Buffer.alloc(MAX_LINE_BYTES, 'x'));
  splitter.push(Buffer.from('x\nnext\n'));
  expect([lines, oversize]).toEqual([[MAX_LINE_BYTES, 4], [MAX_LINE_BYTES + 1]]);
});

const RUNS_TIMEOUT_MS = 120_000;

test('any bytes in any chunks give the lines of the whole, and what is over the cap is told once (10,000 runs)', {
  timeout: RUNS_TIMEOUT_MS,
}, () => {
  // Newlines are made likely, and long runs too: both sides of the packing threshold are crossed.
  const piece = fc.oneof(
    { weight: 5, arbitrary: fc.uint8Array({ maxLength: 12 }) },
    { weight: 3, arbitrary: fc.constantFrom('\n', '\n\n', 'a\n', '\r\n').map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.integer({ min: 4000, max: 20_000 }).map((size) => Buffer.alloc(size, 'z')) },
  );
  const cap = fc.constantFrom(1, 3, 16, 5000, 16_384, 1_000_000);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), cap, (pieces, max) => {
      expect(
        split(
          pieces.map((bytes) => Buffer.from(bytes)),
          max,
        ),
      ).toEqual(reference(Buffer.concat(pieces), max));
    }),
    { numRuns: runs(10_000) },
  );
});

function reference(bytes: Buffer, max: number): string[] {
  const lines = bytes.toString('latin1').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.length > max ? '!' : line));
}

test('a line of 10 MB in 4 KB chunks costs about ten times a line of 1 MB', () => {
  const MB = 1024 * 1024;
  feed(MB);
  const small = Math.min(...Array.from({ length: 5 }, () => feed(MB)));
  const large = Math.min(...Array.from({ length: 5 }, () => feed(10 * MB)));
  // Quadratic would be a hundred times; copying each chunk into a new whole would take seconds.
  expect(large / Math.max(small, 1000)).toBeLessThan(50);
  expect(large).toBeLessThan(1_000_000);
});

/** Microseconds of CPU to take a line of so many bytes. */
function feed(size: number): number {
  const chunk = Buffer.alloc(4096, 'x');
  let got = 0;
  const splitter = new LineSplitter((_bytes, start, end) => (got = end - start));
  const before = process.cpuUsage();
  for (let sent = 0; sent < size; sent += chunk.length) splitter.push(chunk);
  splitter.push(Buffer.from('\n'));
  const used = process.cpuUsage(before);
  expect(got).toBe(size);
  return used.user + used.system;
}

test('a line that comes byte by byte takes the memory of its bytes, not of its chunks', () => {
  const SIZE = 1024 * 1024;
  const splitter = new LineSplitter(() => {});
  const byte = Buffer.from('x');
  const before = process.memoryUsage();
  for (let i = 0; i < SIZE; i++) splitter.push(byte);
  const after = process.memoryUsage();
  expect(splitter.heldBytes).toBe(SIZE);
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * SIZE);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(16 * SIZE);
});
