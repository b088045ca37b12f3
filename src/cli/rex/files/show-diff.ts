// What an edit changes, as people read changes: lines out, lines in, a little around them.

import type { Colours } from '../../colours.js';
import { printable } from '../../colours.js';

const CONTEXT_LINES = 3;
/** Of one edit; who changes more places than this does not read them all. */
export const MAX_SHOWN_HUNKS = 100;

export interface Replacement {
  readonly text: string;
  readonly count: number;
  readonly diff: readonly Hunk[];
}

export interface Hunk {
  readonly line: number;
  readonly before: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly after: readonly string[];
}

/** Every place is known, so there is nothing to search for: only the lines around each are looked at. */
export function replaceText(text: string, old: string, fresh: string, all: boolean): Replacement {
  const places: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + old.length)) {
    places.push(at);
    if (!all && places.length > 1) break;
  }
  const used = all ? places : places.slice(0, 1);
  let result = '';
  let last = 0;
  for (const at of used) {
    result += text.slice(last, at) + fresh;
    last = at + old.length;
  }
  return {
    text: result + text.slice(last),
    count: places.length,
    diff: used.slice(0, MAX_SHOWN_HUNKS).map((at) => hunkAt(text, at, old, fresh)),
  };
}

function hunkAt(text: string, at: number, old: string, fresh: string): Hunk {
  const from = at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
  const tail = text.indexOf('\n', at + old.length);
  const stop = tail === -1 ? text.length : tail;
  const head = text.slice(from, at);
  const rest = text.slice(at + old.length, stop);
  const removed = `${head}${old}${rest}`.split('\n');
  const added = `${head}${fresh}${rest}`.split('\n');
  let same = 0;
  while (same < Math.min(removed.length, added.length) && removed[same] === added[same]) same += 1;
  let sameEnd = 0;
  while (
    sameEnd < Math.min(removed.length, added.length) - same &&
    removed.at(-1 - sameEnd) === added.at(-1 - sameEnd)
  )
    sameEnd += 1;
  const above = from === 0 ? [] : text.slice(0, from - 1).split('\n');
  const below =
    stop + 1 >= text.length
      ? []
      : text
          .slice(stop + 1)
          .replace(/\n$/, '')
          .split('\n', CONTEXT_LINES);
  const before = [...above.slice(-CONTEXT_LINES), ...removed.slice(0, same)].slice(-CONTEXT_LINES);
  return {
    line: above.length + same + 1,
    before,
    removed: removed.slice(same, removed.length - sameEnd),
    added: added.slice(same, added.length - sameEnd),
    after: [...removed.slice(removed.length - sameEnd), ...below].slice(0, CONTEXT_LINES),
  };
}

export function sayDiff(path: string, { diff, count }: Replacement, colours: Colours): string {
  const lines = diff.flatMap(({ line, before, removed, added, after }) => [
    colours.cyan(`@@ line ${line} @@`),
    ...before.map((text) => ` ${printable(text)}`),
    ...removed.map((text) => colours.red(`-${printable(text)}`)),
    ...added.map((text) => colours.green(`+${printable(text)}`)),
    ...after.map((text) => ` ${printable(text)}`),
  ]);
  const more =
    count > MAX_SHOWN_HUNKS && diff.length === MAX_SHOWN_HUNKS ? [`… and ${count - diff.length} more`] : [];
  return [colours.bold(`--- ${path}`), colours.bold(`+++ ${path}`), ...lines, ...more].join('\n');
}
