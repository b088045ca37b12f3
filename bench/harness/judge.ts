// From samples to figures: values in the unit of the case, ratios to the limit, and whether the targets are met.

import type { Sample, SamplesByContender } from './measure.js';
import { medianOf, noiseOf, pairedRatio, type Ratio, summarize } from './stats.js';
import type { Case, CaseResult, Contender, RatioPair, Role, Row, Target, Verdict } from './types.js';

/** Past this spread of the wall-time ratio the CPU-time ratio decides, if it is the steadier of the two. */
export const NOISY = 0.2;

/** Children's CPU time comes in steps of 10 ms; a turn with less than this says too little. */
export const MIN_CPU_MS = 40;

/** How a verdict and a table call it. */
const THE_LIMIT = 'the limit';

type CaseFacts = Pick<
  Case,
  | 'name'
  | 'measure'
  | 'unit'
  | 'scale'
  | 'targets'
  | 'peerBound'
  | 'peerCpuBound'
  | 'maxMemoryMiB'
  | 'maxGrowthMiB'
  | 'figureBound'
  | 'wallOnly'
>;

export function judgeCase(facts: CaseFacts, samples: SamplesByContender): CaseResult {
  const takenBy = (role: Role) => [...samples].find(([contender]) => contender.role === role)?.[1];
  const rows = [...samples].map(([contender, taken]) =>
    rowOf(facts, contender, taken, { limit: takenBy('limit'), ours: takenBy('ours') }),
  );
  return {
    name: facts.name,
    measure: facts.measure,
    unit: facts.unit,
    rows,
    verdicts: [
      ...facts.targets.map((target) => judgeTarget(facts, target, rows)),
      ...judgeBesidePeers(facts, rows),
      ...judgeFigures(facts, rows),
    ],
  };
}

function rowOf(
  facts: CaseFacts,
  { name, role }: Contender,
  taken: readonly Sample[],
  others: { limit: readonly Sample[] | undefined; ours: readonly Sample[] | undefined },
): Row {
  const toLimit = role === 'limit' ? undefined : others.limit;
  const fromOurs = role === 'peer' ? others.ours : undefined;
  return {
    name,
    role,
    opsPerSample: taken[0]?.ops ?? 0,
    wall: summarize(taken.map((sample) => valueOf(facts, sample))),
    cpuUs: summarize(taken.map(cpuUsPerOp)),
    ...memoryOf(taken),
    ...growthOf(taken),
    ...deliveredOf(taken),
    ...(toLimit !== undefined && { ratio: compare(facts, taken, toLimit) }),
    ...(fromOurs !== undefined && { oursToThis: compare(facts, fromOurs, taken) }),
  };
}

/** Which of the two ratios to believe: wall time unless it is noisy and CPU time is not. */
export function chooseRatio(ratio: RatioPair): { by: 'wall' | 'cpu'; ratio: Ratio } {
  const { wall, cpu } = ratio;
  const useCpu = cpu !== undefined && noiseOf(wall) > NOISY && noiseOf(cpu) < noiseOf(wall);
  return useCpu ? { by: 'cpu', ratio: cpu } : { by: 'wall', ratio: wall };
}

function judgeTarget(facts: CaseFacts, target: Target, rows: readonly Row[]): Verdict {
  const ratio = rows.find((row) => row.name === target.contender)?.ratio;
  if (ratio === undefined) throw new RangeError(`no ratio to judge ${target.contender} by`);
  return judgeRatio(facts, ratio, { contender: target.contender, to: THE_LIMIT, bound: target.bound });
}

function judgeBesidePeers(facts: CaseFacts, rows: readonly Row[]): Verdict[] {
  const { peerBound: bound, peerCpuBound: cpuBound } = facts;
  const ours = rows.find((row) => row.role === 'ours');
  if (ours === undefined) return [];
  return rows.flatMap(({ name: to, oursToThis }) => {
    if (oursToThis === undefined) return [];
    const about = { contender: ours.name, to };
    return [
      ...(bound === undefined ? [] : [judgeRatio(facts, oursToThis, { ...about, bound })]),
      ...(cpuBound === undefined ? [] : judgeCpu(facts, oursToThis.cpu, { ...about, bound: cpuBound })),
    ];
  });
}

/** Nothing when it took too little CPU to be measured. */
function judgeCpu(
  facts: CaseFacts,
  ratio: Ratio | undefined,
  about: Pick<Verdict, 'contender' | 'to' | 'bound'>,
): Verdict[] {
  if (ratio === undefined) return [];
  const got = ratio.value;
  const pass = facts.measure === 'rate' ? got >= about.bound : got <= about.bound;
  return [{ ...about, got, by: 'cpu', pass }];
}

function judgeRatio(
  facts: CaseFacts,
  ratio: RatioPair,
  about: Pick<Verdict, 'contender' | 'to' | 'bound'>,
): Verdict {
  const chosen = chooseRatio(ratio);
  const got = chosen.ratio.value;
  const pass = facts.measure === 'rate' ? got >= about.bound : got <= about.bound;
  return { ...about, got, by: chosen.by, pass };
}

/** What ours must be whoever stands beside it. */
function judgeFigures(facts: CaseFacts, rows: readonly Row[]): Verdict[] {
  const { figureBound, maxMemoryMiB, maxGrowthMiB } = facts;
  const isEnough = (got: number, bound: number): boolean =>
    facts.measure === 'rate' ? got >= bound : got <= bound;
  return rows
    .filter(({ role }) => role === 'ours')
    .flatMap(({ name: contender, memoryMiB, growthMiB, wall }) => [
      ...judgeAtMost(contender, 'memory', memoryMiB, maxMemoryMiB),
      ...judgeAtMost(contender, 'growth', growthMiB, maxGrowthMiB),
      ...(figureBound === undefined
        ? []
        : [
            {
              contender,
              bound: figureBound,
              got: wall.median,
              by: 'figure' as const,
              pass: isEnough(wall.median, figureBound),
            },
          ]),
    ]);
}

function judgeAtMost(
  contender: string,
  by: 'memory' | 'growth',
  got: number | undefined,
  bound: number | undefined,
): Verdict[] {
  return bound === undefined || got === undefined ? [] : [{ contender, bound, got, by, pass: got <= bound }];
}

/** `ours` as a multiple of `other`. */
function compare(facts: CaseFacts, ours: readonly Sample[], other: readonly Sample[]): RatioPair {
  const values = (taken: readonly Sample[]): number[] => taken.map((sample) => valueOf(facts, sample));
  const wall = pairedRatio(values(ours), values(other));
  if (wall === undefined) throw new RangeError('a contender took no time');
  if (facts.wallOnly === true) return { wall };
  if (medianCpuMs(ours) < MIN_CPU_MS || medianCpuMs(other) < MIN_CPU_MS) return { wall };
  const [oursCpu, otherCpu] = [ours.map(cpuUsPerOp), other.map(cpuUsPerOp)];
  // A rate's ratio turns over when costs are compared, so that 0.5 always means "half as good".
  const cpu = facts.measure === 'rate' ? pairedRatio(otherCpu, oursCpu) : pairedRatio(oursCpu, otherCpu);
  return cpu === undefined ? { wall } : { wall, cpu };
}

function valueOf(facts: CaseFacts, { ops, wallMs }: Sample): number {
  return facts.measure === 'rate' ? (facts.scale * ops * 1000) / wallMs : (facts.scale * wallMs) / ops;
}

function medianCpuMs(taken: readonly Sample[]): number {
  return medianOf(taken.map((sample) => sample.cpuMs));
}

/** Nothing done costs nothing that could be told per operation. */
function cpuUsPerOp({ ops, cpuMs }: Sample): number {
  return ops === 0 ? 0 : (cpuMs * 1000) / ops;
}

function memoryOf(taken: readonly Sample[]): Pick<Row, 'memoryMiB'> {
  const known = taken.flatMap(({ memoryMiB }) => (memoryMiB === undefined ? [] : [memoryMiB]));
  return known.length === 0 ? {} : { memoryMiB: Math.max(...known) };
}

function growthOf(taken: readonly Sample[]): Pick<Row, 'growthMiB'> {
  const known = taken.flatMap(({ growthMiB }) => (growthMiB === undefined ? [] : [growthMiB]));
  return known.length === 0 ? {} : { growthMiB: medianOf(known) };
}

function deliveredOf(taken: readonly Sample[]): Pick<Row, 'delivered'> {
  if (taken.every(({ asked }) => asked === undefined)) return {};
  return { delivered: medianOf(taken.map(({ ops, asked }) => (asked === undefined ? 1 : ops / asked))) };
}
