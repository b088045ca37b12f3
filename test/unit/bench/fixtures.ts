// A made-up result with every kind of row, for the tests of what is printed and drawn.

import { judgeCase } from '../../../bench/harness/judge.js';
import type { Sample } from '../../../bench/harness/measure.js';
import type { Contender, Role, SuiteResult } from '../../../bench/harness/types.js';

export function contender(name: string, role: Role): Contender {
  return { name, role, run: () => {}, cpuMs: () => 0 };
}

/** Samples of 1000 operations each, by wall ms; CPU time is half of it unless given. */
export function samplesOf(
  walls: readonly number[],
  cpus: readonly number[] = walls.map((ms) => ms / 2),
): Sample[] {
  return walls.map((wallMs, i) => ({ ops: 1000, wallMs, cpuMs: cpus[i] ?? 0 }));
}

export function exampleResult(peerName = 'peer'): SuiteResult {
  const samples = new Map([
    [contender('limit', 'limit'), samplesOf([100, 110, 120])],
    [contender('ours', 'ours'), samplesOf([200, 220, 240])],
    [contender(peerName, 'peer'), samplesOf([400, 440, 480])],
    [contender('reference', 'reference'), samplesOf([150, 160, 170])],
  ]);
  const facts = { unit: 'per second', scale: 1, targets: [{ contender: 'ours', bound: 0.4 }] };
  const missed = { unit: 'ms', scale: 1, targets: [{ contender: 'ours', bound: 1.6 }] };
  return {
    suite: 'example',
    summary: 'this & that, <not> "real"',
    measuredAt: '2026-01-02T03:04:05.000Z',
    machine: { cpus: 2, memoryGiB: 4, platform: 'linux', arch: 'x64', node: 'v20.0.0', loadBefore: 0.5 },
    rounds: 3,
    cases: [
      judgeCase({ name: 'rates', measure: 'rate', ...facts }, samples),
      judgeCase({ name: 'times', measure: 'time', ...missed }, samples),
    ],
  };
}
