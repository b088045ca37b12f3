// Output of a remote process: complete and in order, however slowly it is read.

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_KEPT_BYTES, RemoteOutput, type StreamName } from '../../../src/client/rex/remote-output.js';
import { runs } from '../../helpers/runs.js';

interface Written {
  readonly stream: StreamName;
  readonly text: string;
}

/** A server that has all of the output, and gives at most `most` bytes at a time. */
function serverWith(written: readonly Written[], most: number) {
  const whole = (stream: StreamName): Buffer =>
    Buffer.from(
      written
        .filter((each) => each.stream === stream)
        .map((each) => each.text)
        .join(''),
    );
  return {
    whole,
    fetch: async (stream: StreamName, offset: number): Promise<Buffer> =>
      whole(stream).subarray(offset, offset + most),
  };
}

async function readAll(
  output: RemoteOutput,
  pause: () => Promise<void>,
): Promise<Record<StreamName, string>> {
  const read = { stdout: '', stderr: '' };
  for await (const { stream, bytes } of output) {
    read[stream] += bytes.toString();
    await pause();
  }
  return read;
}

test('every byte comes, in order, whatever the reader is slower than and wherever answers are cut', async () => {
  const chunk = fc.record({
    stream: fc.constantFrom<StreamName>('stdout', 'stderr'),
    text: fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(chunk, { maxLength: 40 }),
      fc.nat(20),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.nat(6), { minLength: 1, maxLength: 9 }),
      async (written, maxKept, most, waits) => {
        const server = serverWith(written, most);
        const wait = waiter(waits);
        const output = new RemoteOutput(async (stream, offset) => {
          await wait();
          return await server.fetch(stream, offset);
        }, maxKept);
        const reading = readAll(output, wait);
        for (const { stream, text } of written) {
          await wait();
          output.push(stream, Buffer.from(text));
          expect(output.keptBytes).toBeLessThanOrEqual(maxKept);
        }
        output.end({ stdout: server.whole('stdout').length, stderr: server.whole('stderr').length });
        expect(await reading).toEqual({
          stdout: server.whole('stdout').toString(),
          stderr: server.whole('stderr').toString(),
        });
      },
    ),
    { numRuns: runs(1000) },
  );
});

/** Each call waits for as many turns as the next of `turns` says, round and round. */
function waiter(turns: readonly number[]): () => Promise<void> {
  let at = 0;
  return async () => {
    for (let left = turns[at++ % turns.length] ?? 0; left > 0; left--) await Promise.resolve();
  };
}

test('what is kept has a cap', () => {
  const output = new RemoteOutput(() => Promise.reject(new Error('not asked for')));
  for (let i = 0; i < 100; i++) output.push('stdout', Buffer.alloc(MAX_KEPT_BYTES / 64));
  expect(output.keptBytes).toBe(MAX_KEPT_BYTES);
});

test('a connection lost gives what arrived, then the reason', async () => {
  const output = new RemoteOutput(() => Promise.reject(new Error('not asked for')));
  output.push('stdout', Buffer.from('so far'));
  output.fail(new Error('gone'));
  const read: string[] = [];
  const reading = (async () => {
    for await (const { bytes } of output) read.push(bytes.toString());
  })();
  await expect(reading).rejects.toThrow('gone');
  expect(read).toEqual(['so far']);
});

test('output can be read once', () => {
  const output = new RemoteOutput(() => Promise.reject(new Error('not asked for')));
  output[Symbol.asyncIterator]();
  expect(() => output[Symbol.asyncIterator]()).toThrow('once');
});
