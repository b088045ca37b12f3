// Lines and frames are found whole however they are cut, up to their cap.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FrameReader } from '../../../../src/bus/flow/frame-reader.js';
import {
  LineReader,
  type MessageReader,
  type MessageSink,
  SKIPPED_TAIL_BYTES,
} from '../../../../src/bus/flow/line-reader.js';
import {
  freeSlabs,
  giveSlab,
  MAX_FREE_SLABS,
  newSlab,
  SLAB_BYTES,
  takeSlab,
} from '../../../../src/bus/flow/slab.js';

class Heard implements MessageSink {
  readonly lines: string[] = [];
  readonly long: number[] = [];
  readonly tails: string[] = [];
  goOn = true;
  message(slab: { bytes: Buffer }, start: number, end: number): boolean {
    expect(slab.bytes[end]).toBe(10);
    this.lines.push(slab.bytes.toString('latin1', start, end));
    return true;
  }
  commit(): void {}
  tooLong(_slab: unknown, start: number, end: number): boolean {
    this.long.push(end - start);
    return this.goOn;
  }
  skipped(tail: Buffer): void {
    this.tails.push(tail.toString('latin1'));
  }
}

function feed(reader: MessageReader, bytes: Buffer, cuts: readonly number[]): void {
  const slab = newSlab(SLAB_BYTES + 8);
  let at = 0;
  for (let i = 0; at < bytes.length; i += 1) {
    const length = Math.min(bytes.length - at, SLAB_BYTES, cuts[i % cuts.length] ?? 1);
    slab.bytes.fill(10); // what is left of earlier reads must not matter
    bytes.copy(slab.bytes, 0, at, at + length);
    reader.push(slab, length);
    at += length;
  }
}

const line = fc.oneof(
  fc.string({ maxLength: 30 }).map((text) => text.replaceAll(/[\n\r]/g, '·')),
  fc.nat(200_000).map((length) => 'y'.repeat(length)),
);

test('lines come as they were sent, without the blank ones, and long ones are skipped', () => {
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1 }),
      (lines, cuts) => {
        const sink = new Heard();
        const max = 100_000;
        feed(new LineReader(sink, max), Buffer.from(lines.map((text) => `${text}\n`).join('')), cuts);
        const bytes = lines.map((text) => Buffer.from(text).toString('latin1'));
        expect(sink.lines).toEqual(bytes.filter((text) => text !== '' && text.length <= max));
        const long = bytes.filter((text) => text.length > max);
        expect(sink.long).toHaveLength(long.length);
        sink.tails.forEach((tail, i) => expect(long[i]!.endsWith(tail.slice(-50))).toBe(true));
        expect(sink.tails.every((tail) => tail.length <= SKIPPED_TAIL_BYTES)).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});

test('a line of exactly the cap passes, one byte more does not, cut anywhere', () => {
  for (const cut of [1, 7, 99, 100, 101, 102, 5000]) {
    const sink = new Heard();
    feed(new LineReader(sink, 100), Buffer.from(`${'a'.repeat(100)}\n${'b'.repeat(101)}\n\r\nc\r\n`), [cut]);
    expect([sink.lines.map((text) => text.length), sink.long.length, sink.lines[1]]).toEqual([
      [100, 2],
      1,
      'c\r',
    ]);
  }
});

test('a reader that was told to stop says nothing more', () => {
  const sink = new Heard();
  sink.goOn = false;
  const reader = new LineReader(sink, 10);
  feed(reader, Buffer.from(`${'a'.repeat(50)}\nb\nc\n`), [5]);
  expect([sink.lines, sink.long.length, reader.heldBytes]).toEqual([[], 1, 0]);
});

test('frames come whole however they are cut; line feeds in them become space', () => {
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1 }),
      (bodies, cuts) => {
        const sink = new Heard();
        const frames = bodies.map((text) => frame(text));
        feed(new FrameReader(sink, 1 << 20), Buffer.concat(frames), cuts);
        expect(sink.lines).toEqual(
          bodies.filter((text) => text !== '').map((text) => Buffer.from(text).toString('latin1')),
        );
      },
    ),
    { numRuns: 100 },
  );
  const sink = new Heard();
  feed(new FrameReader(sink, 100), frame('{\n"a":\n1}'), [100]);
  expect(sink.lines).toEqual(['{\r"a":\r1}']);
});

test('a frame over the cap is refused, and nothing after it is believed', () => {
  const sink = new Heard();
  feed(new FrameReader(sink, 100), Buffer.concat([frame('ok'), frame('x'.repeat(101)), frame('no')]), [64]);
  expect([sink.lines, sink.long.length]).toEqual([['ok'], 1]);
});

test('blocks are used again, and no more than so many are kept', () => {
  const taken = Array.from({ length: MAX_FREE_SLABS + 10 }, () => takeSlab());
  const large = takeSlab(SLAB_BYTES + 1);
  expect(large.bytes.length).toBe(SLAB_BYTES + 1);
  for (const slab of [...taken, large]) giveSlab(slab);
  expect(freeSlabs()).toBe(MAX_FREE_SLABS);
  expect(takeSlab().bytes.length).toBe(SLAB_BYTES);
});

function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}
