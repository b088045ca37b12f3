import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_RESTART_POLICY, RestartBudget } from '../../../../src/host/supervisor/restart-budget.js';
import { runs } from '../../../helpers/runs.js';

const still = (): number => 0.5; // in the middle: no jitter

test('delays double up to the longest, and then the budget is used up', () => {
  const budget = new RestartBudget({ maxRestarts: 5, firstDelayMs: 100, maxDelayMs: 500 }, still);
  expect([0, 1, 2, 3, 4, 5].map((at) => budget.take(at))).toEqual([100, 200, 400, 500, 500, undefined]);
  expect(budget.used(5)).toBe(5);
});

test('restarts that lie back far enough do not count, and the first delay returns', () => {
  const budget = new RestartBudget({ maxRestarts: 2, windowMs: 1000, firstDelayMs: 10 }, still);
  expect([0, 500, 999].map((at) => budget.take(at))).toEqual([10, 20, undefined]);
  expect(budget.take(1000)).toBe(20); // the first is out of the window
  expect(budget.take(5000)).toBe(10);
});

test('a budget of none never restarts', () => {
  expect(new RestartBudget({ maxRestarts: 0 }).take(0)).toBeUndefined();
});

test('no window ever holds more than the budget, and every delay is within its bounds', () => {
  const policy = fc.record({
    maxRestarts: fc.nat(6),
    windowMs: fc.integer({ min: 1, max: 1000 }),
    firstDelayMs: fc.nat(100),
    maxDelayMs: fc.integer({ min: 100, max: 1000 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const gaps = fc.array(fc.nat(400), { maxLength: 40 });
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(policy, gaps, random, (rules, steps, chance) => {
      const budget = new RestartBudget(rules, () => chance);
      const taken: number[] = [];
      let now = 0;
      for (const gap of steps) {
        now += gap;
        const delayMs = budget.take(now);
        if (delayMs !== undefined) taken.push(now);
        expect(delayMs ?? 0).toBeGreaterThanOrEqual(0);
        expect(delayMs ?? 0).toBeLessThanOrEqual(rules.maxDelayMs * (1 + rules.jitter));
        const recent = taken.filter((at) => now - at < rules.windowMs);
        expect(recent.length).toBeLessThanOrEqual(rules.maxRestarts);
        expect(delayMs !== undefined || recent.length === rules.maxRestarts).toBe(true);
      }
    }),
    { numRuns: runs(3000) },
  );
});

test('the usual policy is the documented one', () => {
  expect(DEFAULT_RESTART_POLICY).toMatchObject({
    maxRestarts: 5,
    windowMs: 60_000,
    firstDelayMs: 100,
    maxDelayMs: 30_000,
  });
});

test('a policy that changes counts from then on', () => {
  let maxRestarts = 1;
  const budget = new RestartBudget(
    () => ({ maxRestarts }),
    () => 0.5,
  );
  expect(budget.take(0)).toBe(DEFAULT_RESTART_POLICY.firstDelayMs);
  expect(budget.take(1)).toBeUndefined();
  maxRestarts = 2;
  expect(budget.take(2)).toBe(2 * DEFAULT_RESTART_POLICY.firstDelayMs);
});
