import { describe, expect, test } from 'vitest';
import { judgeCase } from '../../../bench/harness/judge.js';
import { memoryMiB } from '../../../bench/harness/memory.js';
import { formatResult } from '../../../bench/harness/table.js';
import { AnswerReader } from '../../../bench/suites/stringd/answer-reader.js';
import { growthOf } from '../../../bench/suites/stringd/churn.js';
import { contender, exampleResult, samplesOf } from './fixtures.js';

const COUNTED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const CHUNKED = 'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
const EMPTY = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
const BODILESS = 'HTTP/1.1 204 No Content\r\nX: 1\r\n\r\n';

describe('where an answer ends', () => {
  const all = [COUNTED, CHUNKED, EMPTY, BODILESS, COUNTED];

  test.each([1, 2, 3, 7, 1000])('is found in pieces of %i bytes', (size) => {
    const found: number[] = [];
    const reader = new AnswerReader((status) => found.push(status));
    const bytes = Buffer.from(all.join(''));
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size));
    expect(found).toEqual([200, 202, 200, 204, 200]);
  });

  test('an answer is told when it is whole, and not before', () => {
    const found: string[] = [];
    const reader = new AnswerReader((_, text) => found.push(text()));
    reader.push(Buffer.from(COUNTED.slice(0, -1)));
    expect(found).toEqual([]);
    reader.push(Buffer.from('o'));
    expect(found).toEqual([COUNTED]);
  });
});

describe('growth', () => {
  test('is what the lowest mark has risen by, whatever is above it', () => {
    expect(growthOf([1, 2, 3, 4])).toBe(2);
    expect(growthOf([10, 10, 30, 10, 40, 50])).toBe(0);
    expect(growthOf([12, 30, 30, 10, 40, 50])).toBe(-2);
  });

  test('a process has a size, and one that is not there has none', () => {
    expect(memoryMiB(process.pid)).toBeGreaterThan(1);
    expect(memoryMiB(2 ** 22 + 1)).toBeUndefined();
  });
});

describe('figures that are judged by themselves', () => {
  const facts = { name: 'c', unit: 'things', scale: 1, targets: [] };
  const ours = (growthMiB: number) =>
    new Map([[contender('ours', 'ours'), samplesOf([10]).map((sample) => ({ ...sample, growthMiB }))]]);

  test.each([
    ['rate', 99_999, true],
    ['rate', 100_001, false],
    ['time', 0.0099, false],
    ['time', 0.0101, true],
  ] as const)('a %s of ours against %d', (measure, figureBound, pass) => {
    const median = judgeCase({ ...facts, measure }, ours(0)).rows[0]?.wall.median ?? 0;
    const bound = measure === 'rate' ? (median * figureBound) / 100_000 : median * figureBound * 100;
    const { verdicts } = judgeCase({ ...facts, measure, figureBound: bound }, ours(0));
    expect(verdicts).toMatchObject([{ by: 'figure', pass }]);
  });

  test('growth has a bound, and shrinking is no offence', () => {
    const judge = (growth: number) =>
      judgeCase({ ...facts, measure: 'rate', maxGrowthMiB: 4 }, ours(growth)).verdicts;
    expect(judge(3.9)).toMatchObject([{ by: 'growth', pass: true }]);
    expect(judge(4.1)).toMatchObject([{ by: 'growth', pass: false }]);
    expect(judge(-9)).toMatchObject([{ by: 'growth', pass: true, got: -9 }]);
  });

  test('both are told in words', () => {
    const each = judgeCase({ ...facts, measure: 'rate', maxGrowthMiB: 4, figureBound: 1 }, ours(-2));
    const text = formatResult({ ...exampleResult(), cases: [each] });
    expect(text).toContain('PASS  ours: −2 MiB in a turn, target ≤ 4 MiB');
    expect(text).toMatch(/PASS {2}ours: [\d ]+ things, target ≥ 1/);
  });
});
