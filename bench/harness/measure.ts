// Runs the contenders of one case against each other: calibrate, warm up, then rounds in which each has its turn.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { orderOfRound } from './schedule.js';
import type { Case, Contender } from './types.js';

export interface Plan {
  readonly rounds: number;
  readonly warmups: number;
  /** How long one turn should last; the number of operations is chosen to fit. */
  readonly sampleMs: number;
}

export interface Sample {
  readonly ops: number;
  readonly wallMs: number;
  readonly cpuMs: number;
}

export type SamplesByContender = ReadonlyMap<Contender, readonly Sample[]>;

const MAX_OPS = 1e9;

export async function measureCase(
  { name, contenders }: Pick<Case, 'name' | 'contenders'>,
  plan: Plan,
  report: (line: string) => void,
): Promise<SamplesByContender> {
  const ops = new Map<Contender, number>();
  for (const contender of contenders) ops.set(contender, await calibrate(contender, plan.sampleMs));
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
  const fitting = Math.round((sample.ops * sampleMs) / Math.max(sample.wallMs, 0.001));
  return Math.min(MAX_OPS, Math.max(1, fitting));
}

async function takeSample(contender: Contender, ops: number): Promise<Sample> {
  collectGarbage(); // or one contender would pay for what another threw away
  const cpuBefore = contender.cpuMs();
  const before = performance.now();
  const counted = await contender.run(ops);
  const wallMs = performance.now() - before;
  return {
    ops,
    wallMs: typeof counted === 'number' ? counted : wallMs,
    cpuMs: contender.cpuMs() - cpuBefore,
  };
}

let gc: (() => void) | undefined;

function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc');
    gc = runInNewContext('gc') as () => void;
  }
  gc();
}
