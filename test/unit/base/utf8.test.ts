import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutAtCharacter, incompleteTail, truncateUtf8 } from '../../../src/base/utf8.js';
import { runs } from '../../helpers/runs.js';

/** Bytes near the edges of UTF-8: leads, continuations, overlong forms, surrogates, past U+10FFFF. */
const oddByte = fc.constantFrom(
  0x00,
  0x41,
  0x7f,
  0x80,
  0x8f,
  0x90,
  0x9f,
  0xa0,
  0xbf,
  0xc0,
  0xc1,
  0xc2,
  0xdf,
  0xe0,
  0xe2,
  0xed,
  0xef,
  0xf0,
  0xf1,
  0xf4,
  0xf5,
  0xff,
);
const oddBytes = fc.array(oddByte, { maxLength: 12 }).map((bytes) => Uint8Array.from(bytes));
const anyBytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), oddBytes);
/** Well-formed text of any plane: what has no lone surrogate survives UTF-8. */
const anyText = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => Buffer.from(text).toString());

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

test.each([
  ['', 0],
  ['41', 0],
  ['c3', 1],
  ['c3a9', 0],
  ['e282', 2],
  ['e282ac', 0],
  ['f09f98', 3],
  ['f09f9880', 0],
  ['41f0', 1],
  ['80', 0], // a continuation of nothing
  ['808080', 0],
  ['c1', 0], // never a lead
  ['f5', 0],
  ['ff', 0],
  ['e080', 0], // overlong
  ['eda0', 0], // a surrogate
  ['f08f', 0], // overlong
  ['f490', 0], // past U+10FFFF
  ['f48f', 2],
  ['c28080', 0],
])('the tail of %s that may still become a character has %d bytes', (hex, tail) => {
  expect(incompleteTail(Buffer.from(hex, 'hex'))).toBe(tail);
});

test('incompleteTail holds back what a streaming decoder holds back', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const tail = incompleteTail(bytes);
      const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
      const streamed = decoder.decode(bytes, { stream: true });
      const heldBack = decoder.decode() !== '';
      expect(tail > 0).toBe(heldBack);
      expect(decode(bytes.subarray(0, bytes.length - tail))).toBe(streamed);
    }),
    { numRuns: runs(10_000) },
  );
});

test('text cut anywhere into chunks comes through whole when the tails are carried over', () => {
  fc.assert(
    fc.property(anyText, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (text, sizes) => {
      const bytes = Buffer.from(text, 'utf8');
      let out = '';
      let held = Buffer.alloc(0);
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        const chunk = Buffer.concat([held, bytes.subarray(at, at + size)]);
        const tail = incompleteTail(chunk);
        out += decode(chunk.subarray(0, chunk.length - tail));
        held = chunk.subarray(chunk.length - tail);
        at += size;
      }
      expect(held.length).toBe(0);
      expect(out).toBe(text);
    }),
  );
});

test('cutAtCharacter never splits a character, gives a prefix, and loses at most three bytes', () => {
  fc.assert(
    fc.property(anyText, fc.nat(200), (text, max) => {
      const bytes = Buffer.from(text, 'utf8');
      const cut = cutAtCharacter(bytes, max);
      expect(Buffer.compare(bytes.subarray(0, cut.length), cut)).toBe(0);
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(bytes.length, max) - 3);
      expect(decode(cut)).not.toContain('\ufffd'.repeat(text.includes('\ufffd') ? 1000 : 1));
      expect(text.startsWith(decode(cut))).toBe(true);
    }),
    { numRuns: runs(5000) },
  );
});

test('cutAtCharacter keeps its bounds on bytes that are no text at all', () => {
  fc.assert(
    fc.property(anyBytes, fc.nat(50), (bytes, max) => {
      const cut = cutAtCharacter(bytes, max);
      expect(cut.length).toBeLessThanOrEqual(max);
      expect(cut.length).toBeGreaterThanOrEqual(Math.min(bytes.length, max) - 3);
    }),
  );
});

test('bytes that fit are given back as they are, without a copy', () => {
  const bytes = Buffer.from('héllo');
  expect(cutAtCharacter(bytes, bytes.length)).toBe(bytes);
  expect(cutAtCharacter(bytes, 0)).toHaveLength(0);
});

test('truncateUtf8 gives the longest prefix of whole characters that fits', () => {
  fc.assert(
    fc.property(anyText, fc.nat(120), (text, max) => {
      const cut = truncateUtf8(text, max);
      expect(text.startsWith(cut)).toBe(true);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(max);
      const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
      expect(cut === text || Buffer.byteLength(cut + next) > max).toBe(true);
    }),
    { numRuns: runs(5000) },
  );
});

test('a long text costs no more than what is kept of it', () => {
  const long = 'é'.repeat(32 * 1024 * 1024);
  const before = process.memoryUsage().arrayBuffers;
  expect(truncateUtf8(long, 5)).toBe('éé');
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
});
