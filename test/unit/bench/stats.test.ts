import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { medianOf, noiseOf, pairedRatio, quantile, summarize } from '../../../bench/harness/stats.js';

const samples = fc.array(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 40 });

describe('summarize', () => {
  test('gives median, quartiles, deviation and range of a known sample', () => {
    expect(summarize([4, 1, 3, 2, 100])).toEqual({
      median: 3,
      q1: 2,
      q3: 4,
      mad: 1,
      min: 1,
      max: 100,
      samples: 5,
    });
  });

  test('takes the middle of the two middle values of an even sample', () => {
    expect(medianOf([1, 10])).toBe(5.5);
    expect(quantile([1, 2, 3, 4], 0.25)).toBe(1.75);
  });

  test('one sample is its own summary', () => {
    expect(summarize([7])).toEqual({ median: 7, q1: 7, q3: 7, mad: 0, min: 7, max: 7, samples: 1 });
  });

  test('refuses an empty sample and one that is not finite', () => {
    expect(() => summarize([])).toThrow('no samples');
    expect(() => summarize([1, Number.NaN])).toThrow('finite');
    expect(() => medianOf([Number.POSITIVE_INFINITY])).toThrow('finite');
  });

  test('is ordered, ignores the order of the samples and leaves them as they were', () => {
    fc.assert(
      fc.property(samples, (values) => {
        const before = [...values];
        const summary = summarize(values);
        expect(values).toEqual(before);
        expect(summarize(values.toReversed())).toEqual(summary);
        const { min, q1, median, q3, max } = summary;
        expect([min, q1, median, q3, max]).toEqual([min, q1, median, q3, max].toSorted((a, b) => a - b));
      }),
    );
  });

  test('one wild sample among many does not move the median out of the others', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1, max: 2, noNaN: true }), { minLength: 4, maxLength: 20 }),
        (values) => {
          expect(medianOf([...values, 1e12])).toBeLessThanOrEqual(2);
        },
      ),
    );
  });
});

describe('pairedRatio', () => {
  test('is the ratio of medians, with the spread of the paired rounds', () => {
    expect(pairedRatio([2, 4, 6], [1, 2, 3])).toEqual({ value: 2, q1: 2, q3: 2 });
  });

  test('drift that hits both alike leaves no spread', () => {
    fc.assert(
      fc.property(samples, fc.double({ min: 0.1, max: 10, noNaN: true }), (limit, factor) => {
        const ratio = pairedRatio(
          limit.map((value) => value * factor),
          limit,
        );
        expect(ratio?.value).toBeCloseTo(factor, 6);
        expect(ratio === undefined ? 1 : noiseOf(ratio)).toBeLessThan(1e-6);
      }),
    );
  });

  test('is undefined when the limit measured nothing', () => {
    expect(pairedRatio([1, 2], [0, 0])).toBeUndefined();
  });

  test('refuses rounds that do not pair up', () => {
    expect(() => pairedRatio([1], [1, 2])).toThrow('pair');
  });
});

test('noise is the width of the middle half relative to the ratio', () => {
  expect(noiseOf({ value: 0.5, q1: 0.4, q3: 0.6 })).toBeCloseTo(0.4);
  expect(noiseOf({ value: 0, q1: 0, q3: 0 })).toBe(Number.POSITIVE_INFINITY);
});
