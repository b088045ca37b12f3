import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinPieces, type LongPiece } from '../../../../src/wire/ndjson/pieces.js';
import { base64Piece, textPiece } from '../../../../src/rexd/fs/content-line.js';

const HEAD = '{"path":"/ä/\u{1F600}","content":"';
const TAIL = '"}';

function lineOf(piece: LongPiece): Buffer {
  return joinPieces([piece]);
}

function contentOf(piece: LongPiece): unknown {
  return (JSON.parse(lineOf(piece).toString('utf8')) as { content: unknown }).content;
}

describe('bytes in a line of JSON', () => {
  test('text comes back as it was, whatever has to be escaped', () => {
    const unit = fc.constantFrom('a', 'é', '€', '\u{1F600}', '"', '\\', '\n', '\0', '\u001F', '\u007F', ' ');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.integer({ min: 1, max: 2000 }), (part, times) => {
        const text = part.repeat(times);
        expect(contentOf(textPiece(HEAD, { bytes: Buffer.from(text) }, TAIL)) === text).toBe(true);
      }),
    );
  });

  test('text that grows sixfold only at its end finds room, and no chunk is much longer than a pipe takes', () => {
    const text = `${'x'.repeat(600_000)}${'\0'.repeat(400_000)}`;
    const sizes = [...textPiece(HEAD, { bytes: Buffer.from(text) }, TAIL).chunks].map(({ length }) => length);
    expect(sizes.length).toBeGreaterThan(30);
    expect(Math.max(...sizes)).toBeLessThan(128 * 1024);
    expect(contentOf(textPiece(HEAD, { bytes: Buffer.from(text) }, TAIL)) === text).toBe(true);
  });

  test('two that are made at the same time do not disturb each other, and tell when they need their bytes no more', () => {
    const texts = ['a\n'.repeat(100_000), 'b"'.repeat(100_000)];
    const made: number[] = [];
    const pieces = texts.map((text, i) =>
      textPiece(HEAD, { bytes: Buffer.from(text), onMade: () => made.push(i) }, TAIL),
    );
    const lines: Buffer[][] = [[], []];
    const chunks = pieces.map((piece) => piece.chunks[Symbol.iterator]());
    while (made.length < 2)
      chunks.forEach((each, i) => {
        const { value } = each.next();
        if (value !== undefined) lines[i]?.push(Buffer.from(value as Uint8Array));
      });
    expect(made).toEqual([0, 1]);
    lines.forEach((line, i) =>
      expect((JSON.parse(Buffer.concat(line).toString()) as { content: string }).content === texts[i]).toBe(
        true,
      ),
    );
  });

  test('bytes come back from base64 as they were, however many slices they take', () => {
    for (const length of [0, 1, 2, 3, 49_151, 49_152, 49_153, 98_304, 1_000_001]) {
      const bytes = Buffer.alloc(length, 'bytes \xFF\xFE and more', 'latin1');
      const piece = base64Piece(HEAD, { bytes }, TAIL);
      expect(contentOf(piece)).toBe(bytes.toString('base64'));
    }
  });
});
