import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { orderOfRound } from '../../../bench/harness/schedule.js';

const rounds = (contenders: string, count: number): string =>
  Array.from({ length: count }, (_, round) => orderOfRound(contenders.split(''), round).join('')).join(' ');

test('two contenders take turns in going first', () => {
  expect(rounds('AB', 4)).toBe('AB BA BA AB');
});

test('with three, every second cycle runs backwards so that neighbours change', () => {
  expect(rounds('ABC', 6)).toBe('ABC BCA CAB CBA ACB BAC');
});

test('no contenders make an empty round', () => {
  expect(orderOfRound([], 3)).toEqual([]);
});

test('every round has everyone once, and every cycle has everyone first once', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 8 }),
      fc.nat(20),
      (contenders, cycle) => {
        const orders = contenders.map((_, i) => orderOfRound(contenders, cycle * contenders.length + i));
        const sorted = contenders.toSorted((a, b) => a - b);
        for (const order of orders) expect(order.toSorted((a, b) => a - b)).toEqual(sorted);
        expect(orders.map((order) => order[0] ?? 0).toSorted((a, b) => a - b)).toEqual(sorted);
      },
    ),
  );
});
