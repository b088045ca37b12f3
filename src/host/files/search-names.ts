// Which files of a tree a search looks into, by patterns for their names.

import { InvalidPatternError } from './errors.js';
import { compilePattern, MAX_PATTERN_WEIGHT, type Step } from './glob-pattern.js';
import { advance, withoutNothing } from './glob-steps.js';
import type { DirectoryEntry } from './read-directory.js';

/** Patterns of one search: every name is held against all of them. */
export const MAX_NAME_PATTERNS = 100;

/** What holds in one directory. */
export interface NameState {
  /** Undefined where every file is wanted. */
  readonly include: readonly Step[] | undefined;
  readonly exclude: readonly Step[];
}

export interface NameVerdict {
  readonly isWanted: boolean;
  /** What holds below, if there is any sense in going there. */
  readonly below: NameState | undefined;
}

const NO: NameVerdict = { isWanted: false, below: undefined };

/** A pattern without a slash is about names at any depth, one with a slash about paths below `base`. */
export function compileNames(
  base: string,
  include: readonly string[] = [],
  exclude: readonly string[] = [],
): NameState {
  const [first] = [...include, ...exclude];
  if (include.length + exclude.length > MAX_NAME_PATTERNS) {
    throw new InvalidPatternError(first ?? '', `more than ${MAX_NAME_PATTERNS} patterns`);
  }
  const allowance = { weight: MAX_PATTERN_WEIGHT };
  const compile = (patterns: readonly string[]): readonly Step[] =>
    withoutNothing(patterns.flatMap((pattern) => stepsOf(pattern, base, allowance)));
  return { include: include.length === 0 ? undefined : compile(include), exclude: compile(exclude) };
}

export function judgeName(state: NameState, entry: DirectoryEntry): NameVerdict {
  const isDirectory = entry.isDirectory();
  const out = advance(state.exclude, entry, true);
  if (out.ends.some((step) => isDirectory || !step.directoryOnly)) return NO;
  const exclude = out.below ?? [];
  if (state.include === undefined) return { isWanted: !isDirectory, below: { include: undefined, exclude } };
  const { ends, below } = advance(state.include, entry, true);
  if (!isDirectory) return { isWanted: ends.some((step) => !step.directoryOnly), below: undefined };
  // `docs/` means all that is in it.
  if (ends.some((step) => step.directoryOnly))
    return { isWanted: false, below: { include: undefined, exclude } };
  return { isWanted: false, below: below && { include: below, exclude } };
}

function stepsOf(pattern: string, base: string, allowance: { weight: number }): readonly Step[] {
  const hasSlash = pattern.slice(0, -1).includes('/');
  const quests = compilePattern(hasSlash ? pattern : `**/${pattern}`, base, { dot: true }, allowance);
  if (quests.some(({ start }) => start !== base)) {
    throw new InvalidPatternError(pattern, 'leads out of what is searched');
  }
  return quests.flatMap(({ steps }) => steps);
}
