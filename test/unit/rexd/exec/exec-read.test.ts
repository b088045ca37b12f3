// exec.read: how much an answer holds.

import { expect, test } from 'vitest';
import { MAX_SPOOL_READ_BYTES } from '../../../../src/host/process/spool.js';
import type { CallContext } from '../../../../src/rexd/context.js';
import { READ_BYTES, readExec } from '../../../../src/rexd/methods/exec-read.js';

const SIZE = 4 * MAX_SPOOL_READ_BYTES;

/** A process that has written a lot, and notes how much it is asked for. */
function standIn(asked: number[]): CallContext {
  const process = {
    running: false,
    bytes: () => SIZE,
    state: () => ({ bytes_stdout: SIZE, bytes_stderr: 0 }),
    read: (_stream: string, offset: number, length: number) => {
      asked.push(length);
      return Promise.resolve(Buffer.alloc(Math.min(length, SIZE - offset), 'x'));
    },
  };
  return { sessions: { get: () => ({ processes: { find: () => process } }) } } as unknown as CallContext;
}

test('an answer holds READ_BYTES unless more is asked for, and never more than one read gives', async () => {
  const asked: number[] = [];
  const ctx = standIn(asked);
  const read = async (length?: number) =>
    await readExec(
      {
        session_id: 's',
        process_id: 'p',
        stream: 'stdout',
        offset: 0,
        length,
        encoding: undefined,
        wait_ms: 0,
      },
      ctx,
    );
  expect((await read()).data).toHaveLength(READ_BYTES);
  expect((await read(0)).data).toHaveLength(READ_BYTES);
  expect((await read(10)).data).toHaveLength(10);
  expect((await read(SIZE)).data).toHaveLength(MAX_SPOOL_READ_BYTES);
  expect(asked).toEqual([READ_BYTES, READ_BYTES, 10, MAX_SPOOL_READ_BYTES]);
});
