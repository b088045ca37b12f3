// A search that takes long: nobody is held up by it, and it is stopped.

import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { newAbort } from '../../../../src/base/abort.js';
import { LaneFullError } from '../../../../src/base/lane.js';
import { MAX_SEARCH_MS } from '../../../../src/host/files/search.js';
import {
  MAX_BATCH_MS,
  MAX_SEARCH_THREADS,
  MAX_WAITING_SEARCHES,
  SearchThread,
} from '../../../../src/host/files/search-thread.js';
import { makeSandbox, type Sandbox } from './sandbox.js';
import { found, search } from './search-box.js';

describe('an expression that never comes to an end', () => {
  const HOSTILE = '^(a+)+$';
  const plant = (box: Sandbox): void => {
    box.file('a', 'aaa\n');
    box.file('b', `${'a'.repeat(64)}!\n`);
  };
  /** So that none of them is stopped for its time meanwhile. */
  const stopTime = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  afterEach(() => void vi.useRealTimers());

  test('holds nobody up and is stopped', async () => {
    using box = makeSandbox();
    plant(box);
    const { result, rounds } = await roundsDuring(search(box, HOSTILE, { regex: true }));
    expect(result).toMatchObject({ end: 'pattern' }); // which it is after MAX_BATCH_MS, long before the search has used up its time
    expect(MAX_BATCH_MS).toBeLessThan(MAX_SEARCH_MS / 10);
    expect(rounds).toBeGreaterThan(1);
  });

  test('is told from a thread that the machine is slow to start', async () => {
    await using thread = new SearchThread(/b/);
    stopTime();
    const finding = thread.find(Buffer.from('a\nb\n'), [[0, 4]], 1, { ms: MAX_SEARCH_MS });
    vi.advanceTimersByTime(MAX_BATCH_MS);
    expect(await finding).toEqual([{ hits: [{ line: 2, start: 2, at: 2 }], passedBy: 0 }]);
  });

  test('ends with the time of the search', async () => {
    using box = makeSandbox();
    plant(box);
    expect(await search(box, HOSTILE, { regex: true, maxMs: 300 })).toMatchObject({ end: 'time' });
  });

  test('ends when the caller has left', async () => {
    using box = makeSandbox();
    plant(box);
    stopTime();
    const left = newAbort();
    const result = search(box, HOSTILE, { regex: true, signal: left.signal });
    await nextRound();
    left.abort(new Error('left'));
    await expect(result).rejects.toThrow('left');
  });

  test(`takes ${MAX_SEARCH_THREADS} threads at the most, and so many that wait`, async () => {
    using box = makeSandbox();
    plant(box);
    stopTime();
    const left = newAbort();
    const asked = { regex: true, signal: left.signal };
    const all = Array.from({ length: MAX_SEARCH_THREADS + MAX_WAITING_SEARCHES }, () =>
      search(box, HOSTILE, asked),
    );
    const outcomes = Promise.allSettled(all);
    await nextRound();
    await expect(search(box, HOSTILE, asked)).rejects.toBeInstanceOf(LaneFullError);
    expect(await found(box, 'aaa')).toEqual(['a:1:1', 'b:1:1']); // plain text needs none
    left.abort(new Error('left'));
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  });
});

test('a long search of plain text lets others in', async () => {
  using box = makeSandbox();
  for (let i = 0; i < 2000; i++) box.file(`d${i % 20}/f${i}`, 'x\n'.repeat(50));
  const { result, rounds } = await roundsDuring(search(box, 'nothing'));
  expect(result.filesSearched).toBe(2000);
  expect(rounds).toBeGreaterThan(3);
});

/** How often the event loop went round until the work was done. */
async function roundsDuring<T>(work: Promise<T>): Promise<{ result: T; rounds: number }> {
  const state = { rounds: 0, isOver: false };
  const end = (): void => {
    state.isOver = true;
  };
  void work.then(end, end);
  while (!state.isOver) {
    await nextRound();
    state.rounds += 1;
  }
  return { result: await work, rounds: state.rounds };
}
