import { expect, test } from 'vitest';
import { CancelledError, Running } from '../../../../src/string/daemon/running.js';
import { TopicBusyError, TopicLanes } from '../../../../src/string/daemon/topic-lanes.js';
import { MAX_QUEUE_SIZE, QUEUE_WAIT_TIMEOUT_MS } from '../../../../src/string/protocol.js';

const NOBODY = (): readonly AbortSignal[] => [];

function gate(): { open: () => void; promise: Promise<void> } {
  let open = (): void => {};
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { open, promise };
}

test('one at a time, in order, five may wait, the next is told so; other topics do not wait', async () => {
  const lanes = new TopicLanes();
  const { open, promise } = gate();
  const order: number[] = [];
  const run = (n: number) =>
    lanes.inTurn(
      'default',
      'main',
      async () => {
        await promise;
        order.push(n);
      },
      NOBODY,
    );
  const all = Array.from({ length: MAX_QUEUE_SIZE + 1 }, (_, i) => run(i));
  expect(lanes.stateOf('default', 'main')).toEqual({ executing: true, queue_length: MAX_QUEUE_SIZE });
  await expect(run(9)).rejects.toMatchObject({
    status: 429,
    body: {
      error: 'QUEUE_FULL',
      message: 'Topic default:main has 5 commands queued. Try again later.',
    },
  });
  await lanes.inTurn('default', 'docs', () => Promise.resolve(), NOBODY);
  open();
  await Promise.all(all);
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  expect(lanes.busy).toBe(0);
  expect(lanes.stateOf('default', 'main')).toEqual({ executing: false, queue_length: 0 });
});

test('who waits too long is told so, who leaves is gone from the queue, and the rest goes on', async () => {
  expect(QUEUE_WAIT_TIMEOUT_MS).toBe(120_000);
  const lanes = new TopicLanes(40);
  const { open, promise } = gate();
  const first = lanes.inTurn('a', 'main', () => promise, NOBODY);
  const leaving = new AbortController();
  const left = lanes.inTurn(
    'a',
    'main',
    () => Promise.reject(new Error('ran')),
    () => [leaving.signal],
  );
  const late = lanes.inTurn('a', 'main', () => Promise.reject(new Error('ran')), NOBODY);
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await expect(late).rejects.toMatchObject({
    status: 504,
    body: { error: 'QUEUE_TIMEOUT', message: 'Timed out waiting in queue.' },
  });
  const next = lanes.inTurn('a', 'main', () => Promise.resolve('next'), NOBODY);
  open();
  await first;
  expect(await next).toBe('next');
});

test('whoever does not wait is refused while the topic is busy, and hands the turn on to those that do', async () => {
  const lanes = new TopicLanes();
  const { open, promise } = gate();
  const atOnce = lanes.atOnce('a', 'main', () => promise);
  await expect(lanes.atOnce('a', 'main', () => Promise.resolve())).rejects.toThrow(TopicBusyError);
  const waiting = lanes.inTurn('a', 'main', () => Promise.resolve('drained'), NOBODY);
  open();
  await atOnce;
  expect(await waiting).toBe('drained');
});

test('a command that fails frees its topic', async () => {
  const lanes = new TopicLanes();
  await expect(lanes.inTurn('a', 'main', () => Promise.reject(new Error('no')), NOBODY)).rejects.toThrow(
    'no',
  );
  expect(lanes.busy).toBe(0);
});

test('all calls of an id are called off together, those of another agent never', () => {
  const running = new Running();
  using mine = running.begin('a', 'r1');
  using again = running.begin('a', 'r1');
  using others = running.begin('b', 'r1');
  expect(running.cancel('a', 'r2')).toBe(false);
  expect(running.cancel('a', 'r1')).toBe(true);
  expect(mine.signal.reason).toBeInstanceOf(CancelledError);
  expect([again.signal.aborted, others.signal.aborted]).toEqual([true, false]);
  again[Symbol.dispose]();
  mine[Symbol.dispose]();
  expect(running.cancel('a', 'r1')).toBe(false);
});
