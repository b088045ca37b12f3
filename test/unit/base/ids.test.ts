import { expect, test } from 'vitest';
import type * as Ids from '../../../src/base/ids.js';

/** One of its own: it takes on clocks of the far future, and the ids of other tests in this process are not to have them. */
const own = '../../../src/base/ids.js?own';
const { newId } = (await import(own)) as typeof Ids;

const SHAPE = /^s_[0-9a-hjkmnp-tv-z]{26}$/;
const START_MS = Date.now();

// The tests run in this order: an id never sorts before an earlier one, so the clock given here only goes forward.

test('ids carry their prefix, sort by time of birth and do not repeat', () => {
  const ids = Array.from({ length: 1000 }, (_, i) => newId('s', START_MS + i * 1000));
  expect(ids).toEqual([...ids].sort());
  expect(new Set(ids).size).toBe(1000);
  expect(ids[0]).toMatch(SHAPE);
});

test('a clock that steps back does not make an id that sorts first', () => {
  const later = newId('s', START_MS + 5_000_000);
  const stepped = newId('s', START_MS);
  expect(stepped.slice(0, 12)).toBe(later.slice(0, 12));
  expect(stepped).not.toBe(later);
});

test('100,000 ids of one millisecond are all different, over many fillings of the pool', () => {
  const ids = new Set(Array.from({ length: 100_000 }, () => newId('p')));
  expect(ids.size).toBe(100_000);
});

test('every random character uses the whole alphabet evenly', () => {
  const counts = new Map<string, number>();
  const IDS = 20_000;
  for (let i = 0; i < IDS; i++)
    for (const char of newId('x').slice(-16)) counts.set(char, (counts.get(char) ?? 0) + 1);
  expect(counts.size).toBe(32);
  const mean = (IDS * 16) / 32;
  // Six standard deviations: one run in a hundred million fails by chance.
  for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(6 * Math.sqrt(mean));
});

test('the prefix is kept as it is, the time is readable back, and the far future still fits', () => {
  expect(newId('pty')).toMatch(/^pty_/);
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const future = Date.UTC(2500, 0, 1);
  const id = newId('s', future);
  const ms = Array.from(id.slice(2, 12)).reduce((sum, char) => sum * 32 + alphabet.indexOf(char), 0);
  expect(ms).toBe(future);
  expect(id).toMatch(SHAPE);
});
