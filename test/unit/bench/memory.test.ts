import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { parsePeak, peakMemoryMiB, resetPeakMemory } from '../../../bench/harness/memory.js';

test('the peak is read from the status of a process, in MiB', () => {
  expect(parsePeak('Name:\tnode\nVmPeak:\t  900 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n')).toBe(2);
});

test.each(['', 'VmRSS:\t 1 kB\n', 'VmHWM: many\n'])(
  'a status without a peak (%j) tells nothing',
  (status) => {
    expect(parsePeak(status)).toBeUndefined();
  },
);

test('a running process has a peak, and one that is gone has none', async () => {
  expect(peakMemoryMiB(process.pid)).toBeGreaterThan(1);
  const child = spawn('true', { stdio: 'ignore' });
  await once(child, 'exit');
  const pid = child.pid ?? 0;
  resetPeakMemory(pid); // without effect, and without an error
  expect(peakMemoryMiB(pid)).toBeUndefined();
});
