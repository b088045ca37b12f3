import { expect, test } from 'vitest';
import { settleAll } from '../../../src/base/settle-all.js';

test('gives the results in order', async () => {
  const slow = new Promise<number>((resolve) => setImmediate(() => resolve(1)));
  await expect(settleAll([slow, Promise.resolve(2)])).resolves.toEqual([1, 2]);
  await expect(settleAll([])).resolves.toEqual([]);
});

test('waits for the slowest also when another has failed, then rejects with that failure', async () => {
  const over: string[] = [];
  const slow = new Promise<void>((resolve) =>
    setImmediate(() => {
      over.push('slow');
      resolve();
    }),
  );
  const failure = new Error('no');
  await expect(settleAll([Promise.reject(failure), slow])).rejects.toBe(failure);
  expect(over).toEqual(['slow']);
});

test('several failures are told together', async () => {
  const failures = [new Error('a'), new Error('b')];
  const all = settleAll([Promise.reject(failures[0]), Promise.resolve(1), Promise.reject(failures[1])]);
  await expect(all).rejects.toMatchObject({ errors: failures, message: '2 of 3 failed' });
});
