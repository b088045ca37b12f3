import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import wabt from 'wabt';
import { escapeByWords, escapeInto, MAX_ESCAPED_RATIO } from '../../../../src/wire/jsonrpc/json-string.js';
import {
  openSimdEscape,
  PROGRAM,
  SIMD_SLICE_BYTES,
  SIMD_WORTH_BYTES,
} from '../../../../src/wire/jsonrpc/simd-escape.js';
import { runs } from '../../../helpers/runs.js';

/** Escapes from and to the middle of larger buffers, whose other bytes must neither be read nor written. */
function escape(by: typeof escapeInto, bytes: Uint8Array, readAt = 0, writeAt = 0): string {
  const source = Buffer.alloc(readAt + bytes.length + 8, 0xff);
  source.set(bytes, readAt);
  const target = Buffer.alloc(writeAt + bytes.length * MAX_ESCAPED_RATIO + 8, 0xee);
  const end = by(source.subarray(readAt, readAt + bytes.length), target, writeAt);
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

function simd(): typeof escapeInto {
  const found = openSimdEscape();
  if (found === undefined) throw new Error('this runtime has no WebAssembly with SIMD');
  return found;
}

describe.each([
  ['words', escapeByWords],
  ['wide registers', simd()],
  ['whichever is faster', escapeInto],
])('by %s', (_, by) => {
  test('the same as JSON.stringify of the decoded text, wherever it lies in memory', () => {
    fc.assert(
      fc.property(text, fc.nat(7), fc.nat(7), (value, readAt, writeAt) => {
        expect(escape(by, Buffer.from(value), readAt, writeAt)).toBe(inside(value));
      }),
      { numRuns: runs(10_000) },
    );
  });

  test('every byte of ASCII at every place of a word, next to every kind of neighbour', () => {
    for (let byte = 0; byte < 0x80; byte++) {
      for (const neighbour of ['a', '!', '#', '[', ']', '\u001f', '\u0000', '\u007f', 'é']) {
        for (let place = 0; place < 8; place++) {
          const value = neighbour.repeat(place) + String.fromCharCode(byte) + neighbour.repeat(8 - place);
          expect(escape(by, Buffer.from(value))).toBe(inside(value));
        }
      }
    }
  });

  test('the worst case fills its room to the byte', () => {
    const bytes = Buffer.alloc(1000);
    expect(escape(by, bytes)).toBe('\\u0000'.repeat(1000));
    expect(escape(by, bytes)).toHaveLength(bytes.length * MAX_ESCAPED_RATIO);
  });

  test('nothing becomes nothing', () => {
    expect(escape(by, Buffer.alloc(0), 3, 5)).toBe('');
  });
});

test('long texts, on both sides of SIMD_WORTH_BYTES and SIMD_SLICE_BYTES', () => {
  for (const border of [SIMD_WORTH_BYTES, SIMD_SLICE_BYTES, 3 * SIMD_SLICE_BYTES])
    for (let length = border - 17; length <= border + 17; length++) {
      const value = 'plain "quoted"\n\u0001'.repeat(border).slice(0, length);
      expect(escape(escapeInto, Buffer.from(value), 3, 5) === inside(value)).toBe(true);
    }
});

test('where there is no WebAssembly, or none of the kind, there is no program', () => {
  expect(openSimdEscape({})).toBeUndefined();
  const refuses = function (): never {
    throw new Error('no SIMD');
  } as never;
  expect(openSimdEscape({ WebAssembly: { Module: refuses, Instance: refuses } })).toBeUndefined();
});

test('the program is what its source says', async () => {
  const source = new URL('../../../../src/wire/jsonrpc/json-escape.wat', import.meta.url);
  const module = (await wabt()).parseWat('json-escape.wat', readFileSync(source, 'utf8'), { simd: true });
  expect(Buffer.from(module.toBinary({}).buffer).toString('base64')).toBe(PROGRAM);
});
