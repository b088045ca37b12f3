// Source: every byte of a socket once and in order, through pauses at any moment, whoever takes it first.

import { once } from 'node:events';
import { expect, test } from 'vitest';
import { Source } from '../../../../src/bus/flow/source.js';
import { socketPair } from './socket-pair.js';

test('a socket that is paused now and then is read whole, in order, and to its end', async () => {
  await using pair = await socketPair({ allowHalfOpen: true });
  const sent = Buffer.alloc(3_000_000);
  for (let at = 0; at + 4 <= sent.length; at += 4) sent.writeUInt32BE(at, at);
  const taken: Buffer[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    let chunks = 0;
    const source: Source = new Source(pair.left, {
      data(slab, length) {
        taken.push(Buffer.from(slab.bytes.subarray(0, length)));
        chunks += 1;
        if (chunks % 3 !== 0) return;
        source.pause();
        // Now at once, now after what is under way, now when more has come than a stream keeps.
        if (chunks % 2 === 0) source.resume();
        else if (chunks % 5 === 0) setTimeout(() => source.resume(), 2);
        else setImmediate(() => source.resume());
      },
      end: resolve,
      broken: reject,
    });
  });
  for (let at = 0, size = 1; at < sent.length; at += size, size = (size * 7) % 90_001) {
    if (!pair.right.write(sent.subarray(at, at + size))) await once(pair.right, 'drain');
  }
  pair.right.end();
  await ended;
  expect(Buffer.concat(taken).equals(sent)).toBe(true);
});
