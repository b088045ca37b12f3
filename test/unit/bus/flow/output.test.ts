// Output: every byte once and in order, gathered, through a reader that takes its time.

import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Batch } from '../../../../src/bus/flow/batch.js';
import { Flusher } from '../../../../src/bus/flow/flusher.js';
import { MAX_GATHERED_BLOCKS, Output } from '../../../../src/bus/flow/output.js';
import { newSlab, SLAB_BYTES } from '../../../../src/bus/flow/slab.js';
import { socketPair } from './socket-pair.js';

test('a slow reader gets more than can be gathered at once, whole and in order', async () => {
  await using pair = await socketPair({ pauseOnConnect: true });
  const flusher = new Flusher();
  let drained = 0;
  const output = new Output(pair.left, flusher, {
    drained: () => void (drained += 1),
    broken: (error) => expect.fail(error.message),
  });
  const slab = newSlab(1024);
  const count = Math.ceil(((MAX_GATHERED_BLOCKS + 40) * SLAB_BYTES) / 1000);
  for (let i = 0; i < count; i += 1) {
    slab.bytes.fill(97 + (i % 26), 0, 1000);
    slab.bytes.writeUInt32BE(i);
    output.append(slab.bytes, 0, 1000, pair);
  }
  flusher.sourceDone();
  expect(output.queuedBytes).toBeGreaterThan(MAX_GATHERED_BLOCKS * SLAB_BYTES - 2_000_000);
  const received: Buffer[] = [];
  pair.right.on('data', (chunk: Buffer) => received.push(chunk));
  const ended = once(pair.right, 'end');
  await output.empty();
  await output.end();
  await ended;
  const all = Buffer.concat(received);
  expect(all.length).toBe(count * 1000);
  for (let i = 0; i < count; i += 1) expect(all.readUInt32BE(i * 1000)).toBe(i);
  expect([output.queuedBytes, output.totalBytes]).toEqual([0, count * 1000]);
  expect(drained).toBeGreaterThan(1);
});

test('one source: written at once; several: together, after one more look for others', async () => {
  const writes: number[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => writes.push(chunk.length));
  const flusher = new Flusher();
  const output = new Output(stream, flusher, { drained: () => {}, broken: () => {} });
  const bytes = Buffer.from('0123456789');
  for (const source of ['a', 'b', 'c']) {
    output.append(bytes, 0, 10, source);
    flusher.sourceDone();
  }
  await turnOfTheLoop();
  expect(writes).toEqual([]);
  output.append(bytes, 0, 10, 'd');
  flusher.sourceDone();
  await turnOfTheLoop();
  expect(writes).toEqual([40]);
  output.append(bytes, 0, 10, 'a');
  flusher.sourceDone();
  await turnOfTheLoop();
  await turnOfTheLoop();
  output.append(bytes, 0, 5, 'a');
  flusher.sourceDone();
  expect(writes).toEqual([40, 10, 5]);
  stream.destroy();
});

test('a look that finds nobody is not taken again at once, one that does is', async () => {
  const writes: number[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => writes.push(chunk.length));
  const flusher = new Flusher();
  const output = new Output(stream, flusher, { drained: () => {}, broken: () => {} });
  const bytes = Buffer.from('0123456789');
  /** Two sources bring something; how many turns it takes until that is written. */
  const turnsToWrite = async (comesLater: boolean): Promise<number> => {
    const before = writes.length;
    for (const source of [{}, {}]) {
      output.append(bytes, 0, 10, source);
      flusher.sourceDone();
    }
    for (let turns = 1; ; turns += 1) {
      await turnOfTheLoop();
      if (writes.length > before) return turns;
      if (comesLater) flusher.sourceDone();
    }
  };
  const taken: number[] = [];
  for (let i = 0; i < 8; i += 1) taken.push(await turnsToWrite(false));
  expect(taken).toEqual([2, 1, 2, 1, 1, 2, 1, 1]); // one left out, then two, then four
  for (let i = 0; i < 2; i += 1) await turnsToWrite(false);
  taken.length = 0;
  for (let i = 0; i < 4; i += 1) taken.push(await turnsToWrite(true));
  expect(taken).toEqual([2, 2, 2, 2]);
  expect(await turnsToWrite(false)).toBe(2);
  expect(await turnsToWrite(false)).toBe(1);
  expect(await turnsToWrite(false)).toBe(2);
  stream.destroy();
});

test('a reader in this process that asks for more while it is given something gets all of it, in order', async () => {
  const flusher = new Flusher();
  const stream = new PassThrough();
  const output = new Output(stream, flusher, { drained: () => {}, broken: () => {} });
  let got = '';
  stream.on('data', (chunk: Buffer) => {
    got += chunk.toString('latin1');
    if (got.length > 4) return;
    output.append(Buffer.from(String(got.length)), 0, 1, stream);
    flusher.sourceDone();
  });
  output.append(Buffer.from('0'), 0, 1, stream);
  flusher.sourceDone();
  await output.empty();
  output.append(Buffer.from('end'), 0, 3, stream);
  flusher.sourceDone();
  await output.empty();
  expect(got).toBe('01234end');
  expect(output.queuedBytes).toBe(0);
  stream.destroy();
});

test('neighbouring lines are one span, frames are not, a closed output takes nothing', () => {
  const flusher = new Flusher();
  const plain = new Output(new PassThrough(), flusher, { drained: () => {}, broken: () => {} });
  const framed = new Output(new PassThrough(), flusher, { drained: () => {}, broken: () => {} }, true);
  const batch = new Batch();
  const slab = newSlab(100);
  batch.add(plain, slab, 0, 10, 's');
  batch.add(plain, slab, 10, 20, 's');
  expect(plain.queuedBytes).toBe(0);
  batch.add(framed, slab, 20, 30, 's');
  batch.commit();
  expect([plain.queuedBytes, framed.queuedBytes]).toEqual([20, 4 + 9]);
  plain.close();
  plain.append(slab.bytes, 0, 10, 's');
  expect(plain.queuedBytes).toBe(0);
  flusher.sourceDone();
});

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
