import { getEventListeners } from 'node:events';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { newAbort } from '../../../src/base/abort.js';
import { Lane, LaneFullError } from '../../../src/base/lane.js';
import { runs } from '../../helpers/runs.js';

interface Gate<T> {
  started: boolean;
  open: (value: T) => void;
  readonly task: () => Promise<T>;
}

/** A task that ends when told to. */
function gate<T = void>(): Gate<T> {
  const held: Gate<T> = {
    started: false,
    open: () => {},
    task: () => {
      held.started = true;
      return new Promise((resolve) => (held.open = resolve));
    },
  };
  return held;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('runs one task at a time, in the order they came', async () => {
  const lane = new Lane({ maxWaiting: 100 });
  const order: number[] = [];
  let running = 0;
  await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      lane.run(async () => {
        running += 1;
        expect(running).toBe(1);
        if (i % 3 === 0) await settle();
        order.push(i);
        running -= 1;
      }),
    ),
  );
  expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
  expect(lane.busy).toBe(false);
});

test('a free lane starts the task at once and gives its value, also of a task that is not async', async () => {
  const lane = new Lane({ maxWaiting: 0 });
  const held = gate<number>();
  const result = lane.run(held.task);
  expect(held.started).toBe(true);
  expect(lane.busy).toBe(true);
  held.open(0);
  await expect(result).resolves.toBe(0);
  await expect(lane.run(() => 'plain')).resolves.toBe('plain');
  expect(lane.busy).toBe(false);
});

test('hands over without a gap: a newcomer at the very end of a task cannot barge in', async () => {
  const lane = new Lane({ maxWaiting: 10 });
  const order: string[] = [];
  const first = gate();
  const running = lane.run(first.task);
  const waiting = lane.run(() => void order.push('waiting'));
  // Tries again in each of the next microtasks: one of them falls between the end of one task and the start of the next.
  const barging: Promise<void>[] = [];
  const barge = async (): Promise<void> => {
    for (let i = 0; i < 8; i++) {
      expect(lane.busy || order.includes('waiting')).toBe(true);
      barging.push(lane.run(() => void order.push(`barger ${i}`)));
      await Promise.resolve();
    }
  };
  first.open();
  await Promise.all([running, waiting, barge()]);
  await Promise.all(barging);
  expect(order[0]).toBe('waiting');
  expect(order).toHaveLength(9);
});

test('a task that throws or rejects fails its caller only, and the lane goes on', async () => {
  const lane = new Lane({ maxWaiting: 10 });
  const outcomes = await Promise.allSettled([
    lane.run(() => Promise.reject(new Error('rejected'))),
    lane.run(() => {
      throw new Error('thrown');
    }),
    lane.run(() => 'fine'),
  ]);
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(lane.busy).toBe(false);
  expect(lane.waiting).toBe(0);
});

test('past the limit a task is refused at once, and the number it counts is those who wait', async () => {
  const lane = new Lane({ maxWaiting: 2 });
  const held = gate();
  const accepted = [lane.run(held.task), lane.run(() => {}), lane.run(() => {})];
  expect(lane.waiting).toBe(2);
  await expect(lane.run(() => {})).rejects.toThrow(LaneFullError);
  await expect(lane.run(() => {})).rejects.toMatchObject({ code: 'lane_full', facts: { limit: 2 } });
  held.open();
  await Promise.all(accepted);
  await expect(lane.run(() => 'room again')).resolves.toBe('room again');
});

test('with maxWaiting 0 a busy lane refuses and a free one runs', async () => {
  const lane = new Lane({ maxWaiting: 0 });
  const held = gate();
  const running = lane.run(held.task);
  await expect(lane.run(() => {})).rejects.toThrow(LaneFullError);
  held.open();
  await running;
  await expect(lane.run(() => 1)).resolves.toBe(1);
});

test('a waiting task leaves with the reason of its signal and frees its place', async () => {
  const lane = new Lane({ maxWaiting: 2 });
  const held = gate();
  const gone = new AbortController();
  const order: string[] = [];
  const running = lane.run(held.task);
  const leaving = lane.run(() => void order.push('leaving'), gone.signal);
  const staying = lane.run(() => void order.push('staying'));
  gone.abort(new Error('client gone'));
  await expect(leaving).rejects.toThrow('client gone');
  expect(lane.waiting).toBe(1);
  const late = lane.run(() => void order.push('late'));
  held.open();
  await Promise.all([running, staying, late]);
  expect(order).toEqual(['staying', 'late']);
});

test('a signal that is aborted already keeps the task out, whether the lane is busy or not', async () => {
  const lane = new Lane({ maxWaiting: 1 });
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(lane.run(() => 1, gone)).rejects.toThrow('gone');
  const held = gate();
  const running = lane.run(held.task);
  await expect(lane.run(() => 1, gone)).rejects.toThrow('gone');
  expect(lane.waiting).toBe(0);
  held.open();
  await running;
});

test('a signal that aborts in the moment of the hand-over keeps the task from starting, and the next one runs', async () => {
  const lane = new Lane({ maxWaiting: 2 });
  const held = gate();
  const gone = new AbortController();
  const running = lane.run(held.task);
  const given = lane.run(() => 'must not run', gone.signal);
  const after = lane.run(() => 'after');
  // The caller of the first task sees it end in the same microtasks in which the lane is handed over.
  const aborting = (async () => {
    while (lane.waiting === 2) await Promise.resolve();
    gone.abort(new Error('just in time'));
  })();
  held.open();
  await Promise.all([running, aborting]);
  await expect(given).rejects.toThrow('just in time');
  await expect(after).resolves.toBe('after');
  expect(lane.busy).toBe(false);
});

test('once started, a task is on its own: its signal no longer concerns the lane', async () => {
  const lane = new Lane({ maxWaiting: 1 });
  const gone = new AbortController();
  const held = gate<string>();
  const running = lane.run(held.task, gone.signal);
  gone.abort(new Error('ignored'));
  held.open('finished');
  await expect(running).resolves.toBe('finished');
});

test('waiting leaves no listener behind on a long-lived signal', async () => {
  const lane = new Lane({ maxWaiting: 2000 });
  const server = newAbort();
  const held = gate();
  const running = lane.run(held.task, server.signal);
  const waiting = Array.from({ length: 2000 }, () => lane.run(() => {}, server.signal));
  held.open();
  await Promise.all([running, ...waiting]);
  expect(getEventListeners(server.signal, 'abort')).toEqual([]);
});

type Step = { kind: 'run' } | { kind: 'finish' } | { kind: 'cancel'; pick: number };

const steps = fc.array(
  fc.oneof(
    fc.constant<Step>({ kind: 'run' }),
    fc.constant<Step>({ kind: 'finish' }),
    fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(20) }),
  ),
  { maxLength: 60 },
);

test('behaves as a plain list does: who runs, who waits, who is refused', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(5), async (script, maxWaiting) => {
      const lane = new Lane({ maxWaiting });
      const outcome = new Map<number, string>();
      const gates = new Map<number, Gate<void>>();
      const aborts = new Map<number, AbortController>();
      const expected = new Map<number, string>();
      const model: number[] = []; // the first one runs
      let next = 0;
      for (const step of script) {
        if (step.kind === 'run') {
          const id = next++;
          const held = gate();
          const abort = new AbortController();
          gates.set(id, held);
          aborts.set(id, abort);
          void lane.run(held.task, abort.signal).then(
            () => outcome.set(id, 'done'),
            (error: Error) => outcome.set(id, error instanceof LaneFullError ? 'full' : error.message),
          );
          if (model.length > maxWaiting) expected.set(id, 'full');
          else model.push(id);
        } else if (step.kind === 'finish') {
          const id = model.shift();
          if (id === undefined) continue;
          expected.set(id, 'done');
          gates.get(id)?.open();
        } else {
          const waiting = model.slice(1);
          const id = waiting[step.pick % Math.max(1, waiting.length)];
          if (id === undefined) continue;
          model.splice(model.indexOf(id), 1);
          expected.set(id, 'left');
          aborts.get(id)?.abort(new Error('left'));
        }
        await settle();
        expect(lane.busy).toBe(model.length > 0);
        expect(lane.waiting).toBe(Math.max(0, model.length - 1));
        expect([...gates].filter(([id, held]) => held.started && !outcome.has(id)).map(([id]) => id)).toEqual(
          model.slice(0, 1),
        );
        expect(outcome).toEqual(expected);
      }
      while (model.length > 0) {
        gates.get(model.shift() ?? -1)?.open();
        await settle();
      }
      expect(lane.busy).toBe(false);
    }),
    { numRuns: runs(300) },
  );
});
