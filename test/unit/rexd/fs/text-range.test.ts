import { isUtf8 } from 'node:buffer';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { characterRange, MAX_CHARACTER_REST } from '../../../../src/rexd/fs/text-range.js';
import { runs } from '../../../helpers/runs.js';

/** A range of a file, with what a reader has around it. */
function rangeOf(
  file: Buffer,
  offset: number,
  length: number,
  mayGrow: boolean,
): { from: number; to: number } {
  const start = Math.max(0, offset - MAX_CHARACTER_REST);
  const bytes = file.subarray(start, offset + length + MAX_CHARACTER_REST);
  const to = Math.min(offset - start + length, bytes.length);
  const found = characterRange(bytes, { from: Math.min(offset - start, to), to }, mayGrow);
  return { from: found.from + start, to: found.to + start };
}

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom('a', '\u00E9', '\u20AC', '\u{1F600}').map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 4 }).map((raw) => Buffer.from(raw)),
  ),
  { maxLength: 20 },
);

test('ranges of any bytes put together are those bytes, in equal steps and one behind the other', () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 10 }), fc.boolean(), (parts, length, inSteps) => {
      const file = Buffer.concat(parts);
      const read: Buffer[] = [];
      for (let offset = 0; offset < file.length; ) {
        const { from, to } = rangeOf(file, offset, length, true);
        expect(to - from).toBeLessThanOrEqual(length + MAX_CHARACTER_REST);
        read.push(file.subarray(from, to));
        const next = inSteps ? offset + length : to;
        expect(next).toBeGreaterThan(offset);
        offset = next;
      }
      expect(Buffer.concat(read)).toEqual(file);
    }),
    { numRuns: runs(10_000) },
  );
});

test('a range of text is text, wherever it begins and ends', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.nat(60),
      fc.nat(60),
      fc.boolean(),
      (text, offset, length, grow) => {
        const file = Buffer.from(text);
        if (offset > file.length) return;
        const { from, to } = rangeOf(file, offset, length, grow);
        expect(isUtf8(file.subarray(from, to))).toBe(true);
      },
    ),
    { numRuns: runs(10_000) },
  );
});

test('a range that must not grow ends before the character, unless there would be nothing in it', () => {
  const file = Buffer.from('a\u20ACb');
  expect(rangeOf(file, 0, 3, false)).toEqual({ from: 0, to: 1 });
  expect(rangeOf(file, 1, 2, false)).toEqual({ from: 1, to: 4 });
});
