import { expect, test } from 'vitest';
import { newAbort } from '../../../src/base/abort.js';
import { MAX_WAITING_FOR_TURN, Turns } from '../../../src/hugind/turns.js';

const never = newAbort().signal;
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function gate(): { open: () => void; promise: Promise<void> } {
  let open = (): void => {};
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), promise };
}

test('those who share go together, one alone waits for them, and nobody is overtaken', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const held = gate();
  const work = (name: string, alone: boolean): Promise<void> =>
    turns.run([{ key: 'k', alone }], never, async () => {
      order.push(name);
      await held.promise;
    });
  const all = [work('a', false), work('b', false), work('c', true), work('d', false)];
  await tick();
  expect(order).toEqual(['a', 'b']);
  held.open();
  await Promise.all(all);
  expect(order).toEqual(['a', 'b', 'c', 'd']);
});

test('other keys do not wait, and claims in any order never wait for each other', async () => {
  const turns = new Turns();
  const held = gate();
  const first = turns.run([{ key: 'x', alone: true }], never, () => held.promise);
  await turns.run([{ key: 'y', alone: true }], never, async () => {});
  held.open();
  await first;
  const [a, b] = [
    { key: 'a', alone: true },
    { key: 'b', alone: true },
  ];
  const all = Array.from({ length: 50 }, (_, i) =>
    turns.run(i % 2 === 0 ? [a, b] : [b, a], never, () => tick()),
  );
  expect(await Promise.all(all)).toHaveLength(50);
});

test('who is called off while it waits leaves the queue, and those behind it go on', async () => {
  const turns = new Turns();
  const held = gate();
  const first = turns.run([{ key: 'k', alone: false }], never, () => held.promise);
  const controller = new AbortController();
  const waiting = turns.run([{ key: 'k', alone: true }], controller.signal, async () => {});
  const behind = turns.run([{ key: 'k', alone: false }], never, async () => 'in');
  controller.abort(new Error('off'));
  await expect(waiting).rejects.toThrow('off');
  expect(await behind).toBe('in');
  held.open();
  await first;
});

test('the queue has an end', async () => {
  const turns = new Turns();
  const held = gate();
  const claim = [{ key: 'k', alone: true }];
  const all = Array.from({ length: MAX_WAITING_FOR_TURN + 1 }, () =>
    turns.run(claim, never, () => held.promise),
  );
  await expect(turns.run(claim, never, async () => {})).rejects.toMatchObject({ code: 'busy' });
  held.open();
  await Promise.all(all);
});
