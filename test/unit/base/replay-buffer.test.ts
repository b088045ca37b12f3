import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ReplayBuffer } from '../../../src/base/replay-buffer.js';
import { runs } from '../../helpers/runs.js';

test('gives back what the stream had from an offset on, and says what is gone', () => {
  const buffer = new ReplayBuffer(4);
  buffer.append(Buffer.from('abcdef'));
  expect(buffer.start).toBe(2);
  expect(buffer.end).toBe(6);
  expect(buffer.since(0)).toEqual({ data: Buffer.from('cdef'), at: 2, lost: 2 });
  expect(buffer.since(4)).toEqual({ data: Buffer.from('ef'), at: 4, lost: 0 });
  expect(buffer.since(6)).toEqual({ data: Buffer.alloc(0), at: 6, lost: 0 });
  expect(buffer.since(99)).toEqual({ data: Buffer.alloc(0), at: 6, lost: 0 });
  expect(buffer.since(-5)).toEqual({ data: Buffer.from('cdef'), at: 2, lost: 2 });
  expect(buffer.since(3, 2)).toEqual({ data: Buffer.from('de'), at: 3, lost: 0 });
});

test('an empty buffer has nothing to give and nothing lost', () => {
  expect(new ReplayBuffer(10).since(0)).toEqual({ data: Buffer.alloc(0), at: 0, lost: 0 });
});

test('with no capacity it only counts', () => {
  const buffer = new ReplayBuffer(0);
  buffer.append(Buffer.from('abc'));
  expect(buffer.since(1)).toEqual({ data: Buffer.alloc(0), at: 3, lost: 2 });
});

test('what it gave is a copy: later bytes do not change it, and the giver may reuse his chunk', () => {
  const buffer = new ReplayBuffer(4);
  const chunk = Buffer.from('abcd');
  buffer.append(chunk);
  chunk.fill('x');
  const { data } = buffer.since(0);
  buffer.append(Buffer.from('efgh'));
  expect(data.toString()).toBe('abcd');
});

/** A plain Buffer of everything there ever was. */
test('agrees with a plain record of the whole stream, whatever the sizes of chunks and ring', () => {
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc
      .integer({ min: 4000, max: 9000 })
      .map((length) => Uint8Array.from({ length }, (_, i) => (i * 31 + length) % 251)),
  );
  const step = fc.oneof(
    fc.record({ append: chunk }),
    fc.record({
      offset: fc.integer({ min: -5, max: 40_000 }),
      max: fc.option(fc.nat(12_000), { nil: undefined }),
    }),
  );
  const capacity = fc.oneof(fc.nat(30), fc.constantFrom(4095, 4096, 4097, 8192, 10_000));
  fc.assert(
    fc.property(capacity, fc.array(step, { maxLength: 40 }), (size, script) => {
      const buffer = new ReplayBuffer(size);
      let all = Buffer.alloc(0);
      for (const action of script) {
        if ('append' in action) {
          buffer.append(action.append);
          all = Buffer.concat([all, action.append]);
          continue;
        }
        const start = Math.max(0, all.length - size);
        const wanted = Math.min(Math.max(0, action.offset), all.length);
        const at = Math.max(wanted, start);
        const expected = all.subarray(at, at + Math.min(action.max ?? size, size));
        const found =
          action.max === undefined ? buffer.since(action.offset) : buffer.since(action.offset, action.max);
        expect({ at: found.at, lost: found.lost }).toEqual({ at, lost: at - wanted });
        expect(found.data.equals(expected)).toBe(true);
        expect([buffer.start, buffer.end]).toEqual([start, all.length]);
      }
      expect(buffer.since(0).data.equals(all.subarray(Math.max(0, all.length - size)))).toBe(true);
    }),
    { numRuns: runs(1000) },
  );
});

test('memory stays within the capacity however much passes through, and starts small', () => {
  const MIB = 1024 * 1024;
  const held = (): number => process.memoryUsage().arrayBuffers;
  const before = held();
  const idle = Array.from({ length: 100 }, () => {
    const buffer = new ReplayBuffer(MIB);
    buffer.append(Buffer.from('a little'));
    return buffer;
  });
  expect(held() - before).toBeLessThan(2 * MIB); // not a hundred
  const buffer = new ReplayBuffer(MIB);
  const chunk = Buffer.alloc(1000, 'x');
  for (let i = 0; i < 200_000; i++) buffer.append(chunk);
  for (let i = 0; i < 1000; i++) buffer.append(Buffer.of(i % 256));
  expect(buffer.end).toBe(200_001_000);
  expect(held() - before).toBeLessThan(6 * MIB); // the ring, its smaller predecessors not yet collected, the idle ones
  expect(idle).toHaveLength(100);
});

test('one byte at a time costs no more memory than one chunk', () => {
  const buffer = new ReplayBuffer(64 * 1024);
  for (let i = 0; i < 100_000; i++) buffer.append(Buffer.of(i & 0xff));
  const { data, lost } = buffer.since(0);
  expect(lost).toBe(100_000 - 64 * 1024);
  expect(data[0]).toBe(lost & 0xff);
  expect(data.at(-1)).toBe(99_999 & 0xff);
});
