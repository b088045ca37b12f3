import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { base64Line, textLine } from '../../../../src/rexd/fs/content-line.js';

const HEAD = '{"path":"/ä/\u{1F600}","content":"';
const TAIL = '"}';

function contentOf(line: Buffer): unknown {
  return (JSON.parse(line.toString('utf8')) as { content: unknown }).content;
}

describe('bytes in a line of JSON', () => {
  test('text comes back as it was, whatever has to be escaped', () => {
    const unit = fc.constantFrom('a', 'é', '€', '\u{1F600}', '"', '\\', '\n', '\0', '\u001F', '\u007F', ' ');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.integer({ min: 1, max: 2000 }), (part, times) => {
        const text = part.repeat(times);
        expect(contentOf(textLine(HEAD, Buffer.from(text), TAIL)) === text).toBe(true);
      }),
    );
  });

  test('text that grows sixfold only at its end finds room', () => {
    const text = `${'x'.repeat(600_000)}${'\0'.repeat(400_000)}`;
    const line = textLine(HEAD, Buffer.from(text), TAIL);
    expect(contentOf(line) === text).toBe(true);
    expect(line.buffer.byteLength).toBeLessThan(2 * line.length);
  });

  test('bytes come back from base64 as they were, however many slices they take', () => {
    for (const length of [0, 1, 2, 3, 49_151, 49_152, 49_153, 98_304, 1_000_001]) {
      const bytes = Buffer.alloc(length, 'bytes \xFF\xFE and more', 'latin1');
      const line = base64Line(HEAD, bytes, TAIL);
      expect(contentOf(line)).toBe(bytes.toString('base64'));
    }
  });
});
