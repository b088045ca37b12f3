import { expect, test } from 'vitest';
import { TURN_MS, Turns } from '../../../../src/host/files/turns.js';

function work(turns: Turns): void {
  while (!turns.isOver);
}

test('several workers take turns, and between two of them the event loop goes round', async () => {
  let rounds = 0;
  let running = true;
  const count = (): void => {
    rounds += 1;
    if (running) setImmediate(count);
  };
  count();
  const log: { name: string; round: number }[] = [];
  const worker = async (name: string): Promise<void> => {
    const turns = new Turns();
    for (let i = 0; i < 3; i++) {
      work(turns);
      await turns.pass();
      log.push({ name, round: rounds });
    }
  };
  await Promise.all([worker('a'), worker('b')]);
  running = false;
  expect(log.map(({ name }) => name)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  expect(new Set(log.map(({ round }) => round)).size).toBe(6);
});

test('a turn is a few milliseconds', () => {
  const start = performance.now();
  work(new Turns());
  expect(performance.now() - start).toBeGreaterThanOrEqual(TURN_MS - 0.5);
});

test('whoever has left is told when the turn comes', async () => {
  const leaving = new AbortController();
  const turns = new Turns(leaving.signal);
  const passed = turns.pass();
  leaving.abort(new Error('left'));
  await expect(passed).rejects.toThrow('left');
  expect(() => new Turns(leaving.signal)).toThrow('left');
});
