import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fittingTextBytes,
  MAX_UNASKED_ANSWER_BYTES,
  takeFitting,
} from '../../../../src/rexd/fs/answer-size.js';
import { runs } from '../../../helpers/runs.js';

test('items are taken while they fit, and all of them if they do', () => {
  expect(takeFitting(['aaaa', 'bbbb', 'cc'], 14)).toEqual(['aaaa', 'bbbb']);
  expect(takeFitting(['aaaa', 'bbbb', 'cc'], 19)).toEqual(['aaaa', 'bbbb', 'cc']);
  const many = Array.from({ length: 300_000 }, () => 'name');
  expect(JSON.stringify(takeFitting(many)).length).toBeLessThanOrEqual(MAX_UNASKED_ANSWER_BYTES + 1);
});

test('text is cut between characters, as late as its escaped form allows', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(80), (text, max) => {
      const bytes = Buffer.from(text);
      const taken = bytes.subarray(0, fittingTextBytes(bytes, max)).toString();
      expect(text.startsWith(taken)).toBe(true);
      expect(escaped(taken)).toBeLessThanOrEqual(max);
      const more = text.slice(
        0,
        taken.length + String.fromCodePoint(text.codePointAt(taken.length) ?? 0).length,
      );
      expect(taken === text || escaped(more) > max).toBe(true);
    }),
    { numRuns: runs(5000) },
  );
});

function escaped(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
