import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  childCpuMs,
  endedChildrenCpuMs,
  ownCpuMs,
  sumTicks,
  treeCpuMs,
} from '../../../bench/harness/cpu-time.js';

const STAT = '42 (a ) b) S 1 42 42 0 -1 0 0 0 0 0 7 5 30 20 20 0 1 0 100 0 0';

test('times are read past a name that holds blanks and brackets', () => {
  expect(sumTicks(STAT, 11)).toBe(120);
  expect(sumTicks(STAT, 13)).toBe(500);
});

test('what cannot be read counts as no time', () => {
  expect(sumTicks('', 11)).toBe(0);
  expect(sumTicks('42 (x) S', 11)).toBe(0);
  expect(childCpuMs(2 ** 30)).toBe(0);
});

test('work of this process and of ended children adds to their times', () => {
  const [own, children] = [ownCpuMs(), endedChildrenCpuMs()];
  spawnSync(process.execPath, ['-e', 'while (process.cpuUsage().user < 150_000);']);
  expect(endedChildrenCpuMs() - children).toBeGreaterThanOrEqual(140);
  expect(ownCpuMs()).toBeGreaterThan(own);
  const alone = childCpuMs(process.pid);
  expect(alone).toBeGreaterThan(0);
  expect(treeCpuMs(process.pid)).toBeGreaterThanOrEqual(alone + 140);
});
