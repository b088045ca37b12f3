// Long answers: made while they are written, whatever the reader takes of them meanwhile.

import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineWriter, HIGH_WATER_BYTES } from '../../../../src/wire/ndjson/line-writer.js';
import { joinPieces, type LongPiece } from '../../../../src/wire/ndjson/pieces.js';

/** All chunks lie in the same bytes, as they may: each is lent until the next is asked for. */
function longPiece(chunks: readonly string[], onChunk: (index: number) => void = () => {}): LongPiece {
  return {
    length: chunks.join('').length,
    chunks: (function* () {
      const lent = Buffer.alloc(Math.max(1, ...chunks.map(({ length }) => length)));
      for (const [i, chunk] of chunks.entries()) {
        onChunk(i);
        yield lent.subarray(0, lent.write(chunk, 'latin1'));
      }
      lent.fill('?');
    })(),
  };
}

/** Takes at once what `takes` says, in turn, then nothing; the stream takes the rest. */
function sink(takes: readonly number[]) {
  const left = [...takes];
  const all: Buffer[] = [];
  const out = new Writable({
    write(chunk: Buffer, _encoding, done) {
      all.push(Buffer.from(chunk));
      setImmediate(done);
    },
  });
  const writeNow = (bytes: Uint8Array): number => {
    const taken = Math.min(bytes.length, left.shift() ?? 0);
    all.push(Buffer.from(bytes.subarray(0, taken)));
    return taken;
  };
  return { out, writeNow, text: () => Buffer.concat(all).toString() };
}

test('a chunk is offered before the next is made, and what is left before that one', async () => {
  const seen: string[] = [];
  const { out, writeNow, text } = sink([4, 2, 0, 2, 4, 1]);
  const writer = new LineWriter(out, {
    writeNow: (bytes) => {
      const taken = writeNow(bytes);
      seen.push(`${Buffer.from(bytes.subarray(0, taken)).toString()}|`);
      return taken;
    },
  });
  const piece = longPiece(['aaaa', 'bbbb', 'cccc'], (i) => seen.push(`make ${i}`));
  expect(writer.send([piece])).toBe(true);
  expect(seen).toEqual(
    ['make 0', 'aaaa|', 'make 1', 'bb|', 'make 2', '|', 'bb|', 'cccc|', '\n|'].map(String),
  );
  expect(text()).toBe('aaaabbbbcccc\n');
  expect(writer.queuedBytes).toBe(0);
  await writer.end();
});

test('however little is taken and whatever comes after, every byte goes out once and in order', async () => {
  const chunks = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), maxLength: 20 }), {
    maxLength: 6,
  });
  const lines = fc.array(fc.oneof(chunks, fc.constantFrom('short', '')), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.array(fc.nat(30), { maxLength: 40 }),
      fc.boolean(),
      async (sent, takes, direct) => {
        const { out, writeNow, text } = sink(takes);
        const writer = new LineWriter(out, direct ? { writeNow } : {});
        const written = sent.map((line) =>
          writer.write(typeof line === 'string' ? line : ['<', longPiece(line), '>']),
        );
        await Promise.all(written);
        await writer.end();
        const wanted = sent.map((line) => (typeof line === 'string' ? line : `<${line.join('')}>`));
        expect(text()).toBe(wanted.map((line) => `${line}\n`).join(''));
        expect(writer.queuedBytes).toBe(0);
      },
    ),
  );
});

test('what a reader does not take of a long answer counts, as of any other', async () => {
  const { out, writeNow } = sink([]);
  const writer = new LineWriter(out, { writeNow });
  const chunk = 'x'.repeat(64 * 1024);
  const count = HIGH_WATER_BYTES / chunk.length + 1;
  expect(writer.send([longPiece(Array.from({ length: count }, () => chunk))])).toBe(false);
  expect(writer.queuedBytes).toBe(count * chunk.length + 1);
  expect(writer.congested).toBe(true);
  await writer.drained();
  await writer.end();
});

test('joined, lent chunks are copies', () => {
  expect(joinPieces(['<', longPiece(['one', 'two']), '>']).toString()).toBe('<onetwo>');
});
