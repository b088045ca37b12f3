// A pattern as the walk needs it: where to begin, and what to look for from there, name by name.

import { posix } from 'node:path';
import { InvalidPatternError } from './errors.js';
import { expandBraces } from './glob-braces.js';
import { compileSegment, type Segment, type SegmentOptions } from './glob-segment.js';
import { isSpelledRight } from './names.js';
import { isInside } from './is-inside.js';

/** As long as the longest path: nobody writes a longer pattern by hand, and compiling one costs time by its length. */
export const MAX_PATTERN_CHARS = 4096;
/**
 * Characters of all that the patterns of one call stand for, those of names with classes or `?` counted several times:
 * each name found may be held against all of them, and that must be over in milliseconds.
 */
export const MAX_PATTERN_WEIGHT = 64 * 1024;
const SLOW_WEIGHT = 8;

/** Where a pattern has got to: what the next name must be, and what comes after it. */
export interface Step {
  readonly segment: Segment;
  readonly next: Step | undefined;
  /** For the last step: the pattern ended in a slash and means directories only. */
  readonly directoryOnly: boolean;
}

export interface Quest {
  /** The directory to begin in, absolute. */
  readonly start: string;
  readonly steps: readonly Step[];
}

/** Patterns with one beginning are looked for together, so that no directory is read twice. */
export function compilePattern(
  pattern: string,
  base: string,
  options: SegmentOptions,
  allowance = { weight: MAX_PATTERN_WEIGHT },
): Quest[] {
  if (pattern === '') throw new InvalidPatternError(pattern, 'empty');
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new InvalidPatternError(pattern, `longer than ${MAX_PATTERN_CHARS} characters`);
  }
  if (pattern.includes('\0')) throw new InvalidPatternError(pattern, 'contains a NUL byte');
  if (!isSpelledRight(pattern)) throw new InvalidPatternError(pattern, 'not valid Unicode');
  const quests = new Map<string, Step[]>();
  for (const branch of new Set(expandBraces(pattern))) {
    const { start, step, weight } = compileBranch(branch, base, options, pattern);
    allowance.weight -= weight;
    if (allowance.weight < 0) throw new InvalidPatternError(pattern, 'stands for too many long patterns');
    if (step === undefined) continue;
    const steps = quests.get(start);
    if (steps === undefined) quests.set(start, [step]);
    else steps.push(step);
  }
  return [...quests].map(([start, steps]) => ({ start, steps }));
}

function compileBranch(
  branch: string,
  base: string,
  options: SegmentOptions,
  pattern: string,
): { start: string; step: Step | undefined; weight: number } {
  const names = branch.split('/').filter((name) => name !== '');
  const compiled = names.map((name) => compileSegment(name, options));
  const weight = compiled.reduce((sum, segment, i) => sum + weightOf(segment, names[i] ?? ''), 0);
  const segments = compiled.filter((segment) => !isHere(segment));
  // Plain names at the front are where to begin; the last name is always looked for, so that it must exist.
  const magic = segments.findIndex((segment) => segment.kind !== 'literal');
  const ahead = magic === -1 ? lastPlain(segments) : magic;
  const front = segments.slice(0, ahead).map((segment) => (segment.kind === 'literal' ? segment.name : ''));
  const rest = segments.slice(ahead);
  if (rest.some((segment) => segment.kind === 'literal' && segment.name === '..')) {
    throw new InvalidPatternError(pattern, '`..` after a wildcard');
  }
  const start = posix.resolve(branch.startsWith('/') ? '/' : base, ...front);
  const step = link(rest, branch.endsWith('/'));
  if (branch.startsWith('/') || !isInside(start, base)) return { start, step, weight };
  // Below the base: begin at the base itself, together with the other branches.
  const below = posix
    .relative(base, start)
    .split('/')
    .filter((name) => name !== '');
  const lead = below.map((name): Segment => ({ kind: 'literal', name }));
  return { start: base, step: link([...lead, ...rest], branch.endsWith('/')), weight };
}

function weightOf(segment: Segment, text: string): number {
  return segment.kind === 'match' && segment.isSlow ? text.length * SLOW_WEIGHT : text.length;
}

function isHere(segment: Segment): boolean {
  return segment.kind === 'literal' && segment.name === '.'; // as `.` or as `\.`
}

/** A plain path: all but the last real name (`a/..` has none of its own) is where to begin. */
function lastPlain(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  const isUp = last?.kind === 'literal' && last.name === '..';
  return isUp ? segments.length : Math.max(0, segments.length - 1);
}

function link(segments: readonly Segment[], directoryOnly: boolean): Step | undefined {
  let step: Step | undefined;
  for (const [i, segment] of [...segments.entries()].toReversed()) {
    // `**/**` finds what `**` finds.
    if (segment.kind === 'globstar' && segments[i + 1]?.kind === 'globstar') continue;
    step = { segment, next: step, directoryOnly };
  }
  return step;
}
