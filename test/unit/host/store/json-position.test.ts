import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findJsonError, positionAt } from '../../../../src/host/store/json-position.js';
import { runs } from '../../../helpers/runs.js';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('agrees with JSON.parse on what is JSON', () => {
  const json = fc.json().chain((text) => fc.constantFrom(text, JSON.stringify(JSON.parse(text), null, 2)));
  const spoilt = fc
    .tuple(
      json,
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', '"', '\\', ']', '}', '1', 'x', '\n', '\t', 'é'),
    )
    .map(
      ([text, at, cut, put]) =>
        text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + cut),
    );
  fc.assert(
    fc.property(fc.oneof(json, spoilt, fc.string()), (text) => {
      expect(findJsonError(text) === undefined).toBe(isJson(text));
    }),
    { numRuns: runs(10_000) },
  );
});

test('what stands before the error can be the beginning of JSON', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, at) => {
      const cut = text.slice(0, at % (text.length + 1));
      const error = findJsonError(`${cut}\u0007`);
      // A word or number that is cut short is reported where it begins.
      expect(error).toBeGreaterThanOrEqual(cut.length - 30);
      expect(error).toBeLessThanOrEqual(cut.length);
    }),
  );
});

test.each([
  ['', 0],
  ['{"a": 1,}', 8],
  ['[1 2]', 3],
  ['{"a" 1}', 5],
  ['{a: 1}', 1],
  ['"tab\there"', 4],
  ['"bad \\x"', 5],
  ['"open', 5],
  ['[1, 2', 5],
  ['{} {}', 3],
  ['[1.]', 2],
  ['\ufeff{}', 0],
])('%j breaks at %i', (text, at) => {
  expect(findJsonError(text)).toBe(at);
});

test('long strings and deep nesting are no problem', () => {
  expect(findJsonError(`"${'x'.repeat(5_000_000)}`)).toBe(5_000_001);
  expect(findJsonError(`${'['.repeat(200_000)}x`)).toBe(200_000);
});

test('positions count from one', () => {
  expect(positionAt('ab\ncd', 0)).toEqual({ line: 1, column: 1 });
  expect(positionAt('ab\ncd', 2)).toEqual({ line: 1, column: 3 });
  expect(positionAt('ab\ncd', 3)).toEqual({ line: 2, column: 1 });
  expect(positionAt('ab\ncd', 5)).toEqual({ line: 2, column: 3 });
});
