// Some lines of a text in chunks.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  LineCounter,
  LineWindow,
  MAX_READ_BYTES,
  MAX_SHOWN_LINE_BYTES,
} from '../../../../src/client/rex/tools/line-window.js';
import { runs } from '../../../helpers/runs.js';

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...chunks, bytes.subarray(at)];
}

/** As people count: a newline ends a line, and what comes after the last one is a line if it is anything. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

test('the lines asked for are the lines of the text, however it comes in', () => {
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 5 }), { maxLength: 12 })
    .map((l) => l.join('\n'));
  fc.assert(
    fc.property(
      text,
      fc.array(fc.nat({ max: 5 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 14 }),
      fc.nat({ max: 14 }),
      (whole, sizes, first, more) => {
        const window = new LineWindow(first, first + more);
        const counter = new LineCounter();
        for (const chunk of cut(Buffer.from(whole), sizes)) {
          window.push(chunk);
          counter.push(chunk);
        }
        window.end();
        const expected = linesOf(whole)
          .map((line, i) => ({ number: i + 1, text: line }))
          .slice(first - 1, first + more);
        expect(window.lines.map(({ number, bytes }) => ({ number, text: bytes.toString() }))).toEqual(
          expected,
        );
        expect(counter.lines).toBe(linesOf(whole).length);
        expect(window.done || window.seenLines === counter.lines).toBe(true);
      },
    ),
    { numRuns: runs(3000) },
  );
});

test('a line is shown up to MAX_SHOWN_LINE_BYTES, and what is left out is counted', () => {
  const window = new LineWindow(1, 5);
  window.push(Buffer.from(`${'x'.repeat(MAX_SHOWN_LINE_BYTES + 10)}\nnext\n`));
  expect(window.lines.map(({ bytes, cut: left }) => [bytes.length, left])).toEqual([
    [MAX_SHOWN_LINE_BYTES, 10],
    [4, 0],
  ]);
});

test('no more than MAX_READ_BYTES of lines are shown, and it says with which one to go on', () => {
  const window = new LineWindow(1, Number.POSITIVE_INFINITY);
  const line = Buffer.from(`${'y'.repeat(1023)}\n`);
  for (let i = 0; i < 100; i++) window.push(line);
  expect(window.done).toBe(true);
  expect(window.lines).toHaveLength(MAX_READ_BYTES / 1024);
  expect(window.nextLine).toBe(MAX_READ_BYTES / 1024 + 1);
});
