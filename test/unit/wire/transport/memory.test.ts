import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { LINGER_MS } from '../../../../src/wire/transport/link.js';
import { linkedPair } from '../../../../src/wire/transport/memory.js';
import { stopTimers } from '../../../helpers/stop-timers.js';

afterEach(() => void vi.useRealTimers());

test('what one side writes the other reads, both ways, to the end', async () => {
  const [left, right] = linkedPair();
  left.output.end('to the right');
  right.output.end('to the left');
  expect(await text(right.input)).toBe('to the right');
  expect(await text(left.input)).toBe('to the left');
  await Promise.all([left.close(), right.close()]);
});

test('a writer is held back until the other side reads', async () => {
  const [left, right] = linkedPair();
  let written = false;
  left.output.write(Buffer.alloc(100_000));
  left.output.write(Buffer.alloc(100_000), () => (written = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBe(false);
  right.input.resume();
  using still = stopTimers(); // it is read now: nobody's time runs out
  void still;
  await Promise.all([left.close(), right.close()]);
  expect(written).toBe(true);
});

test('one side closing ends the other', async () => {
  const [left, right] = linkedPair();
  right.input.resume();
  const ended = once(right.input, 'end');
  const closing = left.close();
  expect(left.close()).toBe(closing);
  await ended;
  await right.close();
  await closing;
  expect(left.input.destroyed && right.input.destroyed).toBe(true);
});

test('one side destroyed: the other reads what was written, then the end, and can write no more', async () => {
  const [left, right] = linkedPair();
  left.output.write('last words');
  left.input.destroy();
  expect(await text(right.input)).toBe('last words');
  await right.close();
  expect(right.output.destroyed).toBe(true);
});

test('a side that does not read keeps the other from closing for 1 s and no longer', async () => {
  const [left, right] = linkedPair();
  left.output.write(Buffer.alloc(1_000_000));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closing = left.close();
  await vi.advanceTimersByTimeAsync(LINGER_MS - 1);
  expect(left.output.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(left.output.destroyed).toBe(true);
  await closing;
  vi.useRealTimers();
  await right.close();
});
