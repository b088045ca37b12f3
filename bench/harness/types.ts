// What a suite is made of: cases, each with contenders that do the same work, and the targets they are held to.

import type { Cleanup } from './cleanup.js';
import type { Ratio, Summary } from './stats.js';

/** `limit`: what the machine allows. `ours`: held to a target. `peer`: put beside by the user. `reference`: shows where the gap is. */
export type Role = 'limit' | 'ours' | 'peer' | 'reference';

export interface Contender {
  readonly name: string;
  readonly role: Role;
  /** Does `ops` units of work. A number returned is the ms that count, where tidying up should not. */
  run(ops: number): Promise<Ran | number | void> | Ran | number | void;
  /** CPU time so far, in ms, of every process that does this contender's work (the driver included). */
  cpuMs(): number;
  /** The process whose memory is shown. */
  readonly pid?: number;
}

/** What a turn came to, where that is less than was asked for. */
export interface Ran {
  /** The ms that count. */
  readonly wallMs: number;
  /** The units of work that were really done: a contender that loses output is not paid for it. */
  readonly done: number;
  /** What the process has become larger by meanwhile, where that is the question. */
  readonly growthMiB?: number;
}

export interface Target {
  readonly contender: string;
  /** The ratio to the limit must be at least (rates) or at most (times) this. */
  readonly bound: number;
}

export interface Case {
  readonly name: string;
  /** `rate`: work per second, more is better. `time`: ms per unit of work, less is better. */
  readonly measure: 'rate' | 'time';
  readonly unit: string;
  /** A rate is `scale` × ops per second; a time is `scale` × ms per op. */
  readonly scale: number;
  readonly contenders: readonly Contender[];
  readonly targets: readonly Target[];
  /** Ours as a multiple of each peer the user puts beside it: at least (rates) or at most (times) this. */
  readonly peerBound?: number;
  /** The same for the CPU time it takes, turned over for rates like every ratio: at least this. */
  readonly peerCpuBound?: number;
  /** The most memory ours may have had at any moment. */
  readonly maxMemoryMiB?: number;
  /** The most that ours may become larger by in one turn. */
  readonly maxGrowthMiB?: number;
  /** What ours must reach by itself, in the unit of the case: at least (rates) or at most (times) this. */
  readonly figureBound?: number;
  /** What is promised is time itself: waiting for a disk or another process costs no CPU and still counts. */
  readonly wallOnly?: boolean;
  /** For work so long that a few rounds must do; such a case is not warmed up either. */
  readonly maxRounds?: number;
}

export interface Suite {
  readonly name: string;
  readonly summary: string;
  /** What a peer of this suite has to speak; undefined when no peer can take part. */
  readonly peerSpeaks?: 'rexd' | 'echo' | 'bus' | 'stringd';
  /** Builds what is needed and starts the contenders; everything opened is given to `cleanup`. */
  prepare(context: SuiteContext, cleanup: Cleanup): Promise<readonly Case[]>;
}

export interface SuiteContext {
  readonly peers: readonly Peer[];
  /** Cases that take minutes were asked for too. */
  readonly large: boolean;
  /** Cases whose name does not have this in it are left out. */
  readonly only: string;
  readonly root: string;
}

export interface Peer {
  readonly name: string;
  readonly argv: readonly string[];
}

/** The same comparison by wall time and by CPU time (absent where that is too little to be measured). */
export interface RatioPair {
  readonly wall: Ratio;
  readonly cpu?: Ratio;
}

export interface Row {
  readonly name: string;
  readonly role: Role;
  readonly opsPerSample: number;
  /** In the unit of the case. */
  readonly wall: Summary;
  /** µs of CPU time per op. */
  readonly cpuUs: Summary;
  /** The most memory it had in any turn. */
  readonly memoryMiB?: number;
  /** What it became larger by in one turn. */
  readonly growthMiB?: number;
  /** The share of the work that arrived, where some did not. */
  readonly delivered?: number;
  /** To the limit; absent on the limit itself. */
  readonly ratio?: RatioPair;
  /** On a peer: how ours stands to it, the peer being 1. */
  readonly oursToThis?: RatioPair;
}

export interface Verdict {
  readonly contender: string;
  /** What the ratio is to: `the limit`, or a peer's name. Absent where a figure is judged by itself. */
  readonly to?: string;
  readonly bound: number;
  readonly got: number;
  readonly by: 'wall' | 'cpu' | 'memory' | 'growth' | 'figure';
  readonly pass: boolean;
}

export interface CaseResult {
  readonly name: string;
  readonly measure: 'rate' | 'time';
  readonly unit: string;
  readonly rows: readonly Row[];
  readonly verdicts: readonly Verdict[];
}

export interface SuiteResult {
  readonly suite: string;
  readonly summary: string;
  readonly measuredAt: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly rounds: number;
  readonly cases: readonly CaseResult[];
}
