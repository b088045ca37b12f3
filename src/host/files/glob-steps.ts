// How far a pattern has got on the way down a tree: from the steps that hold in a directory to those that hold below.

import type { Step } from './glob-pattern.js';
import type { DirectoryEntry } from './read-directory.js';

export interface Advance {
  /** The last steps that the entry fits: one is enough for a match. */
  readonly ends: readonly Step[];
  /** What is to be looked for below it; undefined for nothing. */
  readonly below: readonly Step[] | undefined;
}

const NONE: readonly Step[] = [];
const NOWHERE: Advance = { ends: NONE, below: undefined };

/** Runs for every file of a tree: nothing is made for those that do not fit. */
export function advance(steps: readonly Step[], entry: DirectoryEntry, dot: boolean): Advance {
  const { name } = entry;
  const [only] = steps;
  // The last name of the usual pattern, which is held against nearly all there is.
  if (only?.next === undefined && only?.segment.kind === 'match' && steps.length === 1)
    return only.segment.test(name) ? endOf(only) : NOWHERE;
  const isDirectory = entry.isDirectory();
  const goesOn = isDirectory || entry.isSymbolicLink();
  let ends: Step[] | undefined;
  let below: Set<Step> | undefined;
  for (const step of steps) {
    const { segment, next } = step;
    if (segment.kind === 'globstar') {
      if (!dot && name.startsWith('.')) continue;
      if (next === undefined) (ends ??= []).push(step);
      if (isDirectory) (below ??= new Set()).add(step);
    } else if (segment.kind === 'literal' ? segment.name === name : segment.test(name)) {
      if (next === undefined) (ends ??= []).push(step);
      else if (goesOn) (below ??= new Set()).add(next);
    }
  }
  if (ends === undefined && below === undefined) return NOWHERE;
  return { ends: ends ?? NONE, below: below && withoutNothing(below) };
}

const endings = new WeakMap<Step, Advance>();

/** The same for every entry that fits, and made once. */
function endOf(step: Step): Advance {
  let ending = endings.get(step);
  if (ending === undefined) endings.set(step, (ending = { ends: [step], below: undefined }));
  return ending;
}

/** Where all that is left of a pattern is one last name: what to hold against the names of a directory. */
export function nameTestOf(steps: readonly Step[]): ((name: string) => boolean) | undefined {
  const [only] = steps;
  if (only === undefined || steps.length > 1 || only.next !== undefined || only.directoryOnly)
    return undefined;
  return only.segment.kind === 'match' ? only.segment.test : undefined;
}

/** `**` may stand for no directory at all: then what follows it is looked for right here as well. */
export function withoutNothing(given: Iterable<Step>): readonly Step[] {
  const steps = new Set(given);
  for (const { segment, next } of steps) {
    if (segment.kind === 'globstar' && next !== undefined) steps.add(next);
  }
  return [...steps];
}
