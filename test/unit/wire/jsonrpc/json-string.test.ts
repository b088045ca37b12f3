import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeInto, MAX_ESCAPED_RATIO } from '../../../../src/wire/jsonrpc/json-string.js';
import { runs } from '../../../helpers/runs.js';

/** Escapes from and to the middle of larger buffers, whose other bytes must neither be read nor written. */
function escape(bytes: Uint8Array, readAt = 0, writeAt = 0): string {
  const source = Buffer.alloc(readAt + bytes.length + 8, 0xff);
  source.set(bytes, readAt);
  const target = Buffer.alloc(writeAt + bytes.length * MAX_ESCAPED_RATIO + 8, 0xee);
  const end = escapeInto(source.subarray(readAt, readAt + bytes.length), target, writeAt);
  expect(end).toBeLessThanOrEqual(writeAt + bytes.length * MAX_ESCAPED_RATIO);
  expect(target.subarray(0, writeAt).every((byte) => byte === 0xee)).toBe(true);
  expect(target.subarray(end).every((byte) => byte === 0xee)).toBe(true);
  return target.toString('utf8', writeAt, end);
}

const inside = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Whole characters of every length, and many of those that are escaped. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      '"',
      '\\',
      '\n',
      '\r',
      '\t',
      '\b',
      '\f',
      '\0',
      '\u001f',
      ' ',
      '\u007f',
      'é',
      '✓',
      '😀',
      '\u2028',
    ),
    maxLength: 200,
  }),
);

test('the same as JSON.stringify of the decoded text, wherever it lies in memory', () => {
  fc.assert(
    fc.property(text, fc.nat(7), fc.nat(7), (value, readAt, writeAt) => {
      expect(escape(Buffer.from(value), readAt, writeAt)).toBe(inside(value));
    }),
    { numRuns: runs(10_000) },
  );
});

test('every byte of ASCII at every place of a word, next to every kind of neighbour', () => {
  for (let byte = 0; byte < 0x80; byte++) {
    for (const neighbour of ['a', '!', '#', '[', ']', '\u001f', '\u0000', '\u007f', 'é']) {
      for (let place = 0; place < 8; place++) {
        const value = neighbour.repeat(place) + String.fromCharCode(byte) + neighbour.repeat(8 - place);
        expect(escape(Buffer.from(value))).toBe(inside(value));
      }
    }
  }
});

test('the worst case fills its room to the byte', () => {
  const bytes = Buffer.alloc(1000);
  expect(escape(bytes)).toBe('\\u0000'.repeat(1000));
  expect(escape(bytes)).toHaveLength(bytes.length * MAX_ESCAPED_RATIO);
});

test('nothing becomes nothing', () => {
  expect(escape(Buffer.alloc(0), 3, 5)).toBe('');
});
