// Why a line is no JSON: the place is right, and nothing of the line is repeated.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findBadUtf8, findJsonError } from '../../../../src/wire/jsonrpc/explain-parse-error.js';
import { runs } from '../../../helpers/runs.js';

test('the place and the reason are told', () => {
  const wrong: [string, number, string][] = [
    ['', 0, 'empty'],
    ['{not json', 1, 'expected a name in double quotes or "}"'],
    ['{"a":}', 5, 'expected a value'],
    ['{"a" 1}', 5, 'expected ":" after a name'],
    ['{"a":1,}', 7, 'expected a name in double quotes'],
    ['[1 2]', 3, 'expected "," or the end of the object or array'],
    ['[1,]', 3, 'expected a value'],
    ['[1}', 2, 'expected "," or the end of the object or array'],
    ['{} x', 3, 'expected nothing after the value'],
    ['{"a":1', 6, 'ends too early'],
    ['"abc', 4, 'a string that does not end'],
    ['"a\u0001"', 2, 'a control character in a string has to be escaped'],
    ['"\\x"', 2, 'no such escape in a string'],
    ["{'a':1}", 1, 'expected a name in double quotes or "}"'],
    ['"é" ]', 5, 'expected nothing after the value'],
    ['01', 1, 'expected nothing after the value'],
  ];
  for (const [text, offset, reason] of wrong) expect(findJsonError(text), text).toEqual({ offset, reason });
});

test('nesting deeper than calls can be is no problem', () => {
  expect(findJsonError('['.repeat(1_000_000))).toEqual({ offset: 1_000_000, reason: 'ends too early' });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('it finds fault exactly where JSON.parse does', () => {
  const mutated = fc
    .tuple(fc.json(), fc.nat(), fc.nat(3), fc.string({ maxLength: 3 }))
    .map(([text, at, cut, put]) => {
      const from = at % (text.length + 1);
      return text.slice(0, from) + put + text.slice(from + cut);
    });
  fc.assert(
    fc.property(fc.oneof(mutated, fc.string()), (text) => {
      const failed = findJsonError(text);
      expect(failed === undefined).toBe(parses(text));
      expect(failed?.offset ?? 0).toBeLessThanOrEqual(Buffer.byteLength(text));
    }),
    { numRuns: runs(5000) },
  );
});

test('the first byte that is not UTF-8 is found, and a real U+FFFD is none', () => {
  const find = (bytes: Buffer): number | undefined => findBadUtf8(bytes, bytes.toString('utf8'))?.offset;
  expect(find(Buffer.from('"é\uFFFDx"'))).toBeUndefined();
  expect(find(Buffer.from([0x22, 0xff, 0x22]))).toBe(1);
  expect(find(Buffer.concat([Buffer.from('é\uFFFD'), Buffer.of(0xc3)]))).toBe(5);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (before, behind) => {
      const head = Buffer.from(before);
      expect(find(Buffer.concat([head, Buffer.of(0xff), Buffer.from(behind)]))).toBe(head.length);
      expect(find(head)).toBeUndefined();
    }),
  );
});
