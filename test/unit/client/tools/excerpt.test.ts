// The beginning and the end of an output, however it comes.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Excerpt, MAX_HEAD_BYTES, MAX_TAIL_BYTES } from '../../../../src/client/rex/tools/excerpt.js';
import { runs } from '../../../helpers/runs.js';

const CUT = '<CUT>';
const note = (): string => CUT;

function render(chunks: readonly Buffer[], head?: number, tail?: number) {
  const excerpt = new Excerpt(head, tail);
  for (const chunk of chunks) excerpt.push(chunk);
  return excerpt.render(note);
}

test('what fits is there as it was, however it was cut into chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 6 }), { maxLength: 20 }), (texts) => {
      const whole = texts.join('');
      const bytes = Buffer.from(whole);
      const { text, cutBytes } = render([...bytes].map((byte) => Buffer.from([byte])));
      expect([text, cutBytes]).toEqual([whole, 0]);
    }),
    { numRuns: runs(300) },
  );
});

test('of what does not fit there are both ends, whole characters, and the right count of what is not there', () => {
  const lines = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(
      lines,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 4, max: 40 }),
      (texts, head, tail) => {
        const bytes = Buffer.from(texts.join('\n'));
        const { text, cutBytes } = render([bytes.subarray(0, 7), bytes.subarray(7)], head, tail);
        fc.pre(bytes.length > head + tail);
        const at = text.indexOf(CUT);
        const [first, last] = [text.slice(0, at), text.slice(at + CUT.length)];
        const whole = bytes.toString('utf8');
        expect(whole.startsWith(first) && whole.endsWith(last)).toBe(true);
        expect(Buffer.byteLength(first) + Buffer.byteLength(last) + cutBytes).toBe(bytes.length);
        expect([Buffer.byteLength(first) <= head, Buffer.byteLength(last) <= tail]).toEqual([true, true]);
      },
    ),
    { numRuns: runs(2000) },
  );
});

test('it is cut where lines end, and says with which line to go on', () => {
  const text = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join('');
  const found = render([Buffer.from(text)], 30, 30);
  expect(found.text).toBe('line 1\nline 2\nline 3\nline 4\n<CUT>line 18\nline 19\nline 20\n');
  expect(found.headLines).toBe(4);
});

test('by default it is no more than MAX_HEAD_BYTES and MAX_TAIL_BYTES, and what it holds stays small', () => {
  const excerpt = new Excerpt();
  for (let i = 0; i < 4096; i++) excerpt.push(Buffer.alloc(1024, 'x'));
  const { text, cutBytes } = excerpt.render(() => '');
  expect(text).toHaveLength(MAX_HEAD_BYTES + MAX_TAIL_BYTES);
  expect(cutBytes).toBe(4096 * 1024 - text.length);
});
