import { expect, test, vi } from 'vitest';
import type * as ProcTable from '../../../../src/host/process/proc-table.js';
import { readTable } from '../../../../src/host/process/proc-table.js';
import { spawnProcess } from '../../../../src/host/process/spawn.js';
import { nextSweep } from '../../../../src/host/process/sweep.js';

vi.mock('../../../../src/host/process/proc-table.js', async (original) => {
  const real = await original<typeof ProcTable>();
  return { ...real, readTable: vi.fn<typeof real.readTable>(real.readTable) };
});

const PROGRAMS = 40;

test('programs that are stopped together are looked for together', async () => {
  const held = await Promise.all(
    Array.from({ length: PROGRAMS }, () => spawnProcess({ argv: ['sleep', '300'] })),
  );
  for (const each of held) {
    each.stdout?.discard();
    each.stderr?.discard();
  }
  vi.mocked(readTable).mockClear();
  const reports = await Promise.all(held.map((each) => each.stop({ graceMs: 60_000 })));
  expect(reports).toEqual(Array.from({ length: PROGRAMS }, () => ({ asked: 1, killed: 0 })));
  // Two to stop them all, then one for those whose end is noticed at the same moment; each alone would take three and more.
  expect(vi.mocked(readTable).mock.calls.length).toBeLessThan(2 * PROGRAMS);
});

test('a sweep is shared by those who ask before it is made, and never older than the question', async () => {
  vi.mocked(readTable).mockClear();
  const [one, same] = await Promise.all([nextSweep(), nextSweep()]);
  expect(one).toBe(same);
  const child = await spawnProcess({ argv: ['sleep', '300'] });
  const later = await nextSweep();
  expect(later).not.toBe(one);
  expect(later.table.some(({ pid }) => pid === child.pid)).toBe(true);
  expect(vi.mocked(readTable)).toHaveBeenCalledTimes(2);
  await child.close();
});
