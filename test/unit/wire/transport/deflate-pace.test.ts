// How hard to compress, by what compressing and sending have taken.

import { expect, test } from 'vitest';
import {
  DeflatePace,
  type DeflatedBlock,
  FAST_LINK_BYTES_PER_S,
  PROOF_BYTES,
} from '../../../../src/wire/transport/deflate-pace.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Blocks of 256 KiB that compress by `ratio` at 64 MiB/s, over a link of so many bytes a second. */
function run(pace: DeflatePace, blocks: number, ratio: number, linkBytesPerS: number): void {
  const rawBytes = 256 * KIB;
  const sentBytes = rawBytes / ratio;
  const block: DeflatedBlock = {
    rawBytes,
    sentBytes,
    deflateMs: 4,
    sendMs: (sentBytes / linkBytesPerS) * 1000,
  };
  for (let i = 0; i < blocks && pace.level > 0; i++) pace.noteDeflated(block);
}

test('a slow link is worth more work', () => {
  const pace = new DeflatePace(true);
  expect(pace.level).toBe(1);
  run(pace, 4, 4, MIB);
  expect(pace.level).toBe(6);
});

test('a link as fast as the compressor gets less of it', () => {
  const pace = new DeflatePace(true);
  run(pace, 4, 4, MIB);
  run(pace, 4, 4, 40 * MIB);
  expect(pace.level).toBe(1);
});

test('a link that takes it all at once is written to plainly, but only when that is proven', () => {
  const pace = new DeflatePace(true);
  run(pace, PROOF_BYTES / (64 * KIB) - 2, 4, 1000 * MIB);
  expect(pace.level).toBe(1);
  run(pace, 4, 4, 1000 * MIB);
  expect(pace.level).toBe(0);
});

test('what compresses to nothing proves nothing', () => {
  const pace = new DeflatePace(true);
  run(pace, 2000, 200, 1000 * MIB);
  expect(pace.level).toBe(1);
});

test('a plain link that turns out to be slow is compressed again', () => {
  const pace = new DeflatePace(true);
  run(pace, 1000, 2, 1000 * MIB);
  expect(pace.level).toBe(0);
  for (let i = 0; i < 8; i++) pace.notePlain(256 * KIB, ((256 * KIB) / (FAST_LINK_BYTES_PER_S * 4)) * 1000);
  expect(pace.level).toBe(0);
  for (let i = 0; i < 4; i++) pace.notePlain(256 * KIB, 250);
  expect(pace.level).toBe(1);
});

test('without leave to stop it is always compressed', () => {
  const pace = new DeflatePace(false);
  run(pace, 1000, 2, 1000 * MIB);
  expect(pace.level).toBe(1);
});
