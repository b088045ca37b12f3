import { expect, test } from 'vitest';
import {
  MAX_BUCKETS,
  MAX_WEBHOOK_BYTES_PER_SECOND,
  RateLimit,
} from '../../../../src/string/events/rate-limit.js';

test('twice a second’s worth at once, then as much as comes in with time; the wait is told', () => {
  let now = 0;
  const limit = new RateLimit({ eventsPerSecond: 10, bytesPerSecond: 1000 }, () => now);
  for (let i = 0; i < 20; i++) expect(limit.take('a', 1)).toBe(0);
  expect(limit.take('a', 1)).toBeCloseTo(0.1);
  expect(limit.take('b', 1)).toBe(0);
  now += 150;
  expect(limit.take('a', 1)).toBe(0);
  expect(limit.take('a', 1)).toBeGreaterThan(0);
});

test('bytes count as well as events', () => {
  let now = 0;
  const limit = new RateLimit(
    { eventsPerSecond: 1e6, bytesPerSecond: MAX_WEBHOOK_BYTES_PER_SECOND },
    () => now,
  );
  const half = MAX_WEBHOOK_BYTES_PER_SECOND / 2;
  for (let i = 0; i < 4; i++) expect(limit.take('a', half)).toBe(0);
  expect(limit.take('a', half)).toBeCloseTo(0.5);
  now += 500;
  expect(limit.take('a', half)).toBe(0);
});

test('buckets of webhooks that are quiet are forgotten', () => {
  let now = 0;
  const limit = new RateLimit({ eventsPerSecond: 1, bytesPerSecond: 1e9 }, () => now);
  for (let i = 0; i < MAX_BUCKETS; i++) limit.take(`k${i}`, 1);
  now += 10_000;
  limit.take('new', 1);
  expect(limit.take('k1', 1)).toBe(0);
});
