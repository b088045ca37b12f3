import { closeSync, mkdtempSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FifoPool } from '../../../../src/host/process/fifo-pool.js';
import {
  DRAIN_AFTER_EXIT_MS,
  MAX_PIPE_BYTES,
  OutputPipe,
  READ_AHEAD_BYTES,
  ReadBusyError,
} from '../../../../src/host/process/output-pipe.js';
import { readFifo } from '../../../../src/host/process/fifo-reader.js';
import { CHUNK_BYTES, type PipeSink } from '../../../../src/host/process/pipe-source.js';
import { removeFolder } from '../../../helpers/remove-folder.js';

/** A pipe whose other end is the test. */
function makePipe(rest: Buffer[] = []) {
  const calls: string[] = [];
  let sink: PipeSink | undefined;
  const pipe = new OutputPipe((given) => {
    sink = given;
    return {
      resume: () => calls.push('resume'),
      takeRest: (maxBytes) => {
        calls.push(`takeRest ${maxBytes}`);
        return rest;
      },
      unref: () => calls.push('unref'),
      destroy: () => calls.push('destroy'),
    };
  });
  return {
    pipe,
    calls,
    write: (text: string | Buffer) => sink?.data(Buffer.from(text)),
    end: () => sink?.end(),
  };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await Promise.resolve();
  await Promise.resolve();
  return settled;
}

test('chunks come in order, whether they were waited for or not, and then the end', async () => {
  const { pipe, write, end } = makePipe();
  const first = pipe.read();
  for (const text of ['a', 'b', 'c']) write(text);
  end();
  expect(await isSettled(pipe.drained)).toBe(false);
  const got = [await first, await pipe.read(), await pipe.read(), await pipe.read(), await pipe.read()];
  expect(got.map((chunk) => chunk?.toString())).toEqual(['a', 'b', 'c', undefined, undefined]);
  expect([pipe.bytes, await isSettled(pipe.drained)]).toEqual([3, true]);
});

test('only one read waits at a time', async () => {
  const { pipe, end } = makePipe();
  const first = pipe.read();
  await expect(pipe.read()).rejects.toThrow(ReadBusyError);
  end();
  expect(await first).toBeUndefined();
});

test('reads ahead up to its limit, and goes on when there is room', async () => {
  const { pipe, calls, write } = makePipe();
  expect(write(Buffer.alloc(READ_AHEAD_BYTES - 1))).toBe(true);
  expect(write('x')).toBe(false);
  expect(calls).toEqual([]);
  await pipe.read();
  expect(calls).toEqual(['resume']);
  expect(write('y')).toBe(true);
});

test('what is discarded is counted and not kept', async () => {
  const { pipe, calls, write, end } = makePipe();
  write(Buffer.alloc(READ_AHEAD_BYTES));
  pipe.discard();
  expect(calls).toEqual(['resume']);
  for (let i = 0; i < 10; i++) expect(write(Buffer.alloc(READ_AHEAD_BYTES))).toBe(true);
  end();
  await pipe.drained;
  expect([await pipe.read(), pipe.bytes]).toEqual([undefined, 11 * READ_AHEAD_BYTES]);
});

test('destroyed, it keeps nobody waiting, and what it had can still be read', async () => {
  const { pipe, calls, write } = makePipe();
  write('left');
  pipe.destroy();
  await pipe.drained;
  expect(calls).toEqual(['destroy']);
  expect([await pipe.read(), await pipe.read()].map((chunk) => chunk?.toString())).toEqual([
    'left',
    undefined,
  ]);
});

describe('after the leader has ended', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  test('a silent pipe that someone holds is given up after 250 ms, with what lies in it', async () => {
    const { pipe, calls, write } = makePipe([Buffer.from('rest')]);
    const reading = pipe.read();
    pipe.expectEnd();
    vi.advanceTimersByTime(DRAIN_AFTER_EXIT_MS - 1);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual([`takeRest ${MAX_PIPE_BYTES}`, 'unref', 'resume']);
    expect((await reading)?.toString()).toBe('rest');
    expect([await pipe.read(), pipe.held]).toEqual([undefined, true]);
    expect(write('late')).toBe(true); // thrown away, so that the holder can go on
    expect([await pipe.read(), pipe.bytes]).toEqual([undefined, 4]);
  });

  test('an end that comes in time is a plain end', async () => {
    const { pipe, end } = makePipe();
    pipe.expectEnd();
    vi.advanceTimersByTime(DRAIN_AFTER_EXIT_MS - 1);
    end();
    await pipe.drained;
    vi.advanceTimersByTime(1000);
    expect(pipe.held).toBe(false);
  });

  test('time in which the consumer has not taken what is there does not count', async () => {
    const { pipe, write } = makePipe();
    pipe.expectEnd();
    vi.advanceTimersByTime(200);
    write('slow');
    vi.advanceTimersByTime(60_000);
    expect(pipe.held).toBe(false);
    await pipe.read();
    vi.advanceTimersByTime(49);
    expect(pipe.held).toBe(false);
    vi.advanceTimersByTime(1);
    expect(pipe.held).toBe(true);
  });
});

test('what is taken from a pipe at once has a limit, and an empty pipe ends it', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'rest-'));
  const pool = new FifoPool(dir);
  await pool.prepare(1);
  const fifo = pool.open();
  if (fifo === undefined) throw new Error('no pipe');
  const closed = new Promise<void>((end) => {
    const source = readFifo(fifo.readFd, { data: () => false, end });
    writeSync(fifo.writeFd, Buffer.alloc(CHUNK_BYTES + 100));
    expect(source.takeRest(1).map((chunk) => chunk.length)).toEqual([CHUNK_BYTES]);
    expect(source.takeRest(MAX_PIPE_BYTES).map((chunk) => chunk.length)).toEqual([100]);
    expect(source.takeRest(MAX_PIPE_BYTES)).toEqual([]);
    source.destroy();
    expect(source.takeRest(MAX_PIPE_BYTES)).toEqual([]);
  });
  closeSync(fifo.writeFd);
  await closed;
  removeFolder(dir);
});
