// Long answers: a few at a time, in order, and none while nobody takes them.

import { expect, test } from 'vitest';
import { RawJson } from '../../../src/wire/jsonrpc/encode.js';
import { LongAnswers } from '../../../src/rexd/long-answers.js';
import { MAX_READS_AT_ONCE, MAX_WALKS_AT_ONCE } from '../../../src/rexd/server.js';
import { until } from '../../helpers/wait.js';

interface Client {
  congested: boolean;
  drain: () => void;
  leave: () => void;
}

function answersFor(maxAtOnce: number): { answers: LongAnswers; client: Client } {
  const client: Client = { congested: false, drain: () => {}, leave: () => {} };
  const answers = new LongAnswers({
    maxAtOnce,
    isCongested: () => client.congested,
    drained: () =>
      new Promise((resolve, reject) => {
        client.drain = () => {
          client.congested = false;
          resolve();
        };
        client.leave = () => reject(new Error('gone'));
      }),
  });
  return { answers, client };
}

test.each([MAX_READS_AT_ONCE, MAX_WALKS_AT_ONCE, 1])(
  '%i are made at the same time, the rest in turn',
  async (max) => {
    const { answers } = answersFor(max);
    const open: (() => void)[] = [];
    const order: number[] = [];
    let most = 0;
    const all = Array.from({ length: 3 * max }, async (_, i) => {
      await answers.run(
        () =>
          new Promise<void>((resolve) => {
            order.push(i);
            open.push(resolve);
            most = Math.max(most, open.length);
          }),
      );
    });
    for (let done = 0; done < all.length; done++) {
      await until(() => open.length > 0, 'one to be under way');
      open.shift()?.();
    }
    await Promise.all(all);
    expect(most).toBe(max);
    expect(order).toEqual(all.map((_, i) => i));
  },
);

test('what is done at once is answered at once, as what it is', () => {
  const { answers } = answersFor(1);
  expect(answers.run(() => 'now')).toBe('now');
  expect(() => answers.run(() => JSON.parse('{'))).toThrow(SyntaxError);
  expect(answers.run(() => 'again')).toBe('again');
});

test('a long one that is done at once keeps its turn until its answer can be seen in the queue', async () => {
  const { answers } = answersFor(2);
  const long = (): RawJson => new RawJson('x'.repeat(100_000));
  let made = 0;
  const all = [1, 2, 3, 4, 5].map(() =>
    answers.run(() => {
      made += 1;
      return long();
    }),
  );
  expect(made).toBe(2);
  await Promise.all(all.map(async (each) => await each));
  expect(made).toBe(5);
});

test('none is made while the client does not take what is there', async () => {
  const { answers, client } = answersFor(4);
  client.congested = true;
  let made = 0;
  const waiting = [1, 2, 3].map(async (i) => await answers.run(() => (made += i)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toBe(0);
  client.drain();
  expect(await Promise.all(waiting)).toEqual([1, 3, 6]);
});

test('a failure is told to whoever asked, and the next has its turn', async () => {
  const { answers } = answersFor(1);
  const outcomes = await Promise.allSettled(
    [false, true, false].map(async (fails) => {
      await answers.run(async () => {
        if (fails) throw new Error('failed');
      });
    }),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('when the client is gone nothing waits for it', async () => {
  const { answers, client } = answersFor(1);
  client.congested = true;
  const waiting = answers.run(() => 'done');
  client.leave();
  expect(await waiting).toBe('done');
  expect(answers.run(() => 'at once')).toBe('at once');
});
