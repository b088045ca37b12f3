// Runs the contenders of one case against each other: calibrate, warm up, then rounds in which each has its turn.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { peakMemoryMiB, resetPeakMemory } from './memory.js';
import { orderOfRound } from './schedule.js';
import type { Case, Contender } from './types.js';

export interface Plan {
  readonly rounds: number;
  readonly warmups: number;
  /** How long one turn should last; the number of operations is chosen to fit. */
  readonly sampleMs: number;
}

export interface Sample {
  /** What was really done, in operations. */
  readonly ops: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** What was asked for, where it is more than was done. */
  readonly asked?: number;
  readonly memoryMiB?: number;
  readonly growthMiB?: number;
}

export type SamplesByContender = ReadonlyMap<Contender, readonly Sample[]>;

const MAX_OPS = 1e9;

export async function measureCase(
  { name, contenders, maxRounds }: Pick<Case, 'name' | 'contenders' | 'maxRounds'>,
  asked: Plan,
  report: (line: string) => void,
): Promise<SamplesByContender> {
  const plan =
    maxRounds === undefined ? asked : { ...asked, rounds: Math.min(maxRounds, asked.rounds), warmups: 0 };
  const ops = new Map<Contender, number>();
  for (const contender of contenders) {
    // Work of that length is one operation a turn: to find that out would take as long as a turn.
    ops.set(contender, maxRounds === undefined ? await calibrate(contender, plan.sampleMs) : 1);
  }
  const samples = new Map(contenders.map((contender) => [contender, [] as Sample[]]));
  for (let round = -plan.warmups; round < plan.rounds; round++) {
    report(round < 0 ? `${name}: warming up` : `${name}: round ${round + 1} of ${plan.rounds}`);
    for (const contender of orderOfRound(contenders, Math.abs(round))) {
      const sample = await takeSample(contender, ops.get(contender) ?? 1);
      if (round < 0) ops.set(contender, fitOps(sample, plan.sampleMs));
      else samples.get(contender)?.push(sample);
    }
  }
  return samples;
}

/** Grows the work until it is long enough to extrapolate from. */
async function calibrate(contender: Contender, sampleMs: number): Promise<number> {
  for (let ops = 1; ops < MAX_OPS; ops *= 4) {
    const sample = await takeSample(contender, ops);
    if (sample.wallMs >= sampleMs / 8) return fitOps(sample, sampleMs);
  }
  return MAX_OPS;
}

function fitOps(sample: Sample, sampleMs: number): number {
  const ops = sample.asked ?? sample.ops;
  const fitting = Math.round((ops * sampleMs) / Math.max(sample.wallMs, 0.001));
  return Math.min(MAX_OPS, Math.max(1, fitting));
}

async function takeSample(contender: Contender, ops: number): Promise<Sample> {
  collectGarbage(); // or one contender would pay for what another threw away
  const { pid } = contender;
  if (pid !== undefined) resetPeakMemory(pid);
  const cpuBefore = contender.cpuMs();
  const before = performance.now();
  const counted = await contender.run(ops);
  const wallMs = performance.now() - before;
  const cpuMs = contender.cpuMs() - cpuBefore;
  const after = contender.pid; // it may have been started by this turn
  const memoryMiB = after === undefined ? undefined : peakMemoryMiB(after);
  const memory = memoryMiB === undefined ? {} : { memoryMiB };
  if (typeof counted !== 'object') return { ops, wallMs: counted ?? wallMs, cpuMs, ...memory };
  const asked = counted.done < ops ? { asked: ops } : {};
  const growth = counted.growthMiB === undefined ? {} : { growthMiB: counted.growthMiB };
  return { ops: counted.done, wallMs: counted.wallMs, cpuMs, ...asked, ...memory, ...growth };
}

let gc: (() => void) | undefined;

function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as () => void;
  }
  gc();
}
