import { describe, expect, test } from 'vitest';
import { chooseRatio, judgeCase, MIN_CPU_MS, NOISY } from '../../../bench/harness/judge.js';
import { contender, exampleResult, samplesOf } from './fixtures.js';

const RATE = { name: 'c', measure: 'rate', unit: 'per second', scale: 1, targets: [] } as const;

describe('judgeCase', () => {
  const [rates, times] = exampleResult().cases;

  test('a rate is work per second, and its ratio is below 1 when slower', () => {
    expect(rates?.rows[0]?.wall.median).toBeCloseTo(100 / 0.011);
    expect(rates?.rows[1]?.ratio?.wall.value).toBeCloseTo(0.5);
    expect(rates?.rows[1]?.ratio?.cpu?.value).toBeCloseTo(0.5);
  });

  test('a time is ms per unit of work, and its ratio is above 1 when slower', () => {
    expect(times?.rows[0]?.wall.median).toBeCloseTo(0.11);
    expect(times?.rows[1]?.ratio?.wall.value).toBeCloseTo(2);
    expect(times?.rows[1]?.ratio?.cpu?.value).toBeCloseTo(2);
  });

  test('CPU time is µs per unit of work', () => {
    expect(rates?.rows[0]?.cpuUs.median).toBeCloseTo(55);
  });

  test('the limit has no ratio, and a peer is told how ours stands to it', () => {
    expect(rates?.rows[0]?.ratio).toBeUndefined();
    expect(rates?.rows[2]?.oursToThis?.wall.value).toBeCloseTo(2);
    expect(times?.rows[2]?.oursToThis?.wall.value).toBeCloseTo(0.5);
    expect(rates?.rows[1]?.oursToThis).toBeUndefined();
  });

  test('a rate must reach its target and a time must stay within it', () => {
    expect(rates?.verdicts).toMatchObject([{ contender: 'ours', bound: 0.4, by: 'wall', pass: true }]);
    expect(times?.verdicts).toMatchObject([{ contender: 'ours', bound: 1.6, by: 'wall', pass: false }]);
  });

  test('the scale turns operations into the unit', () => {
    const samples = new Map([[contender('limit', 'limit'), samplesOf([1000])]]);
    expect(judgeCase({ ...RATE, scale: 0.5 }, samples).rows[0]?.wall.median).toBe(500);
  });

  test('a target for somebody who does not take part is a mistake, not a pass', () => {
    const samples = new Map([[contender('limit', 'limit'), samplesOf([10])]]);
    const targets = [{ contender: 'nobody', bound: 1 }];
    expect(() => judgeCase({ ...RATE, targets }, samples)).toThrow('nobody');
  });

  test('CPU time too short to be measured leaves the wall ratio alone', () => {
    const samples = new Map([
      [contender('limit', 'limit'), samplesOf([10], [MIN_CPU_MS - 1])],
      [contender('ours', 'ours'), samplesOf([20], [MIN_CPU_MS])],
    ]);
    expect(judgeCase(RATE, samples).rows[1]?.ratio).toEqual({ wall: { value: 0.5, q1: 0.5, q3: 0.5 } });
  });
});

describe('beside a peer', () => {
  const samples = (ours: number, memoryMiB?: number) =>
    new Map([
      [contender('limit', 'limit'), samplesOf([100, 100, 100])],
      [
        contender('ours', 'ours'),
        samplesOf([ours, ours, ours]).map((each) => ({
          ...each,
          ...(memoryMiB !== undefined && { memoryMiB }),
        })),
      ],
      [contender('go', 'peer'), samplesOf([400, 400, 400])],
    ]);

  test.each([
    [100, true],
    [300, false],
  ])('ours is held to its bound beside each peer (%d ms)', (ours, pass) => {
    const { verdicts } = judgeCase({ ...RATE, peerBound: 2 }, samples(ours));
    expect(verdicts).toMatchObject([
      { contender: 'ours', to: 'go', bound: 2, got: expect.closeTo(400 / ours), pass },
    ]);
  });

  test('without a peer there is nothing to be held to', () => {
    const alone = new Map([...samples(100)].slice(0, 2));
    expect(judgeCase({ ...RATE, peerBound: 2 }, alone).verdicts).toEqual([]);
  });

  test('memory is judged by its highest mark', () => {
    const { verdicts, rows } = judgeCase({ ...RATE, maxMemoryMiB: 100 }, samples(100, 120));
    expect(rows[1]?.memoryMiB).toBe(120);
    expect(verdicts).toMatchObject([{ contender: 'ours', by: 'memory', bound: 100, got: 120, pass: false }]);
  });

  test('who delivers less is paid for what arrived, and that is said', () => {
    const lossy = samplesOf([100, 100, 100]).map((each) => ({ ...each, ops: 120, asked: 1000 }));
    const { rows } = judgeCase(RATE, new Map([...samples(100), [contender('lossy', 'peer'), lossy]]));
    expect(rows[3]?.delivered).toBeCloseTo(0.12);
    expect(rows[3]?.wall.median).toBeCloseTo(1200);
    expect(rows[1]?.delivered).toBeUndefined();
  });

  test('where only time counts, CPU time is not compared', () => {
    const { rows } = judgeCase({ ...RATE, wallOnly: true }, samples(100));
    expect(rows[1]?.ratio?.cpu).toBeUndefined();
  });
});

describe('chooseRatio', () => {
  const steady = { value: 0.5, q1: 0.49, q3: 0.51 };
  const noisy = { value: 0.6, q1: 0.6 - 0.4 * NOISY, q3: 0.6 + 0.8 * NOISY };

  test('wall time decides while it is steady', () => {
    expect(chooseRatio({ wall: steady, cpu: noisy })).toEqual({ by: 'wall', ratio: steady });
  });

  test('CPU time decides when wall time is noisy and CPU time is not', () => {
    expect(chooseRatio({ wall: noisy, cpu: steady })).toEqual({ by: 'cpu', ratio: steady });
  });

  test('wall time decides when CPU time is no better or absent', () => {
    expect(chooseRatio({ wall: noisy, cpu: noisy }).by).toBe('wall');
    expect(chooseRatio({ wall: noisy }).by).toBe('wall');
  });
});
