// The hunks of a patch applied to one file's content. Nothing is guessed: a place is clear, or the patch is refused.

import type { RpcError } from '../../base/errors.js';
import { Turns } from '../../host/files/turns.js';
import { invalidParam } from '../errors.js';
import { LineFinder } from './patch-match.js';
import type { Hunk, HunkLine } from './patch-text.js';
import { PatchedLines } from './patched-lines.js';
import { FileLines } from './text-lines.js';

/** Places named in a refusal. */
export const MAX_PLACES_TOLD = 10;

export async function patchContent(
  path: string,
  content: Buffer,
  hunks: readonly Hunk[],
  signal?: AbortSignal,
): Promise<Buffer> {
  const turns = new Turns(signal);
  const lines = await FileLines.read(path, content, turns);
  const finder = new LineFinder(lines, turns);
  const result = new PatchedLines(lines);
  let done = 0;
  for (const [i, hunk] of hunks.entries()) {
    if (turns.isOver) await turns.pass();
    const refuse = (reason: Reason, places?: readonly number[]): RpcError =>
      refusal({ path, hunk, number: i + 1, isFirst: i === 0 }, reason, places);
    const { at, hunkLines } = await placeOf(hunk, finder, lines.count, done, refuse);
    result.keep(done, at);
    done = at + rewrite(result, lines, at, hunkLines);
  }
  result.keep(done, lines.count);
  return result.join();
}

interface Spot {
  readonly at: number;
  readonly hunkLines: readonly HunkLine[];
}

type Reason = 'not_found' | 'ambiguous' | 'context_not_found' | 'no_place';
type Refuse = (reason: Reason, places?: readonly number[]) => RpcError;

async function placeOf(
  hunk: Hunk,
  finder: LineFinder,
  lineCount: number,
  from: number,
  refuse: Refuse,
): Promise<Spot> {
  const starts = await startsAfterContexts(hunk, finder, from, refuse);
  // Blank lines at the end may be context, or only the space before the next part of the patch.
  const loose = hunk.looseEnd === 0 ? [] : [hunk.lines.slice(0, -hunk.looseEnd)];
  for (const hunkLines of [hunk.lines, ...loose]) {
    const wanted = hunkLines.filter(({ kind }) => kind !== 'add').map(({ text }) => Buffer.from(text));
    const places =
      wanted.length === 0
        ? insertionPlaces(hunk, starts, lineCount)
        : await search(hunk, wanted, starts, finder);
    if (places === undefined) throw refuse('no_place');
    const [at, ...others] = places;
    if (others.length > 0) throw refuse('ambiguous', places);
    if (at !== undefined) return { at, hunkLines };
  }
  throw refuse('not_found');
}

/** Where to begin looking: behind the last context line, in every place it may be. */
async function startsAfterContexts(
  hunk: Hunk,
  finder: LineFinder,
  from: number,
  refuse: Refuse,
): Promise<number[]> {
  let starts = [from];
  for (const [i, context] of hunk.contexts.entries()) {
    const found = await finder.find([Buffer.from(context)], starts[0] ?? from);
    // The first may be anywhere; of the next the first in sight is meant, below each place of the one before.
    starts = (i === 0 ? found : firstBelow(starts, found)).map((at) => at + 1);
    if (starts.length === 0) throw refuse('context_not_found');
  }
  return starts;
}

/** The first match below each start; without a context, every match there is. */
async function search(
  hunk: Hunk,
  wanted: readonly Buffer[],
  starts: readonly number[],
  finder: LineFinder,
): Promise<number[]> {
  const [first = 0] = starts;
  if (hunk.atEnd) return finder.findAtEnd(wanted, first);
  const found = await finder.find(wanted, first);
  if (hunk.contexts.length === 0) return found;
  const below = firstBelow(starts, found);
  if (below.length > 0) return below;
  // The hunk may repeat its context as its first line.
  const again = starts.map((start) => start - 1);
  return firstBelow(again, await finder.find(wanted, again[0] ?? 0));
}

/** Both lists are in order, so one walk through them is enough. */
function firstBelow(starts: readonly number[], found: readonly number[]): number[] {
  const places: number[] = [];
  let i = 0;
  for (const start of starts) {
    while (i < found.length && (found[i] as number) < start) i += 1;
    const at = found[i];
    if (at !== undefined && at !== places.at(-1)) places.push(at);
  }
  return places;
}

/** Lines that come without any that are there: behind their context, at the end if so marked, or in an empty file. */
function insertionPlaces(
  hunk: Hunk,
  starts: readonly number[],
  lineCount: number,
): readonly number[] | undefined {
  if (hunk.atEnd || lineCount === 0) return [lineCount];
  return hunk.contexts.length > 0 ? starts : undefined;
}

/** Adds what becomes of the lines from `at` on; says how many lines of the file that was. */
function rewrite(result: PatchedLines, lines: FileLines, at: number, hunkLines: readonly HunkLine[]): number {
  const { usualEnd } = lines;
  let old = at;
  for (const { kind, text } of hunkLines) {
    if (kind === 'add') {
      const like = old > at ? old - 1 : old;
      const near = like < lines.count ? lines.end(like) : usualEnd;
      const end = near === '' ? usualEnd : near;
      result.add(Buffer.from(end === '\r\n' && text.endsWith('\r') ? text.slice(0, -1) : text), end);
      continue;
    }
    if (kind === 'keep') result.keep(old, old + 1); // as the file has it, not as the patch does
    old += 1;
  }
  return old - at;
}

const REASONS: Readonly<Record<Reason, string>> = {
  not_found: 'its lines are not in the file',
  context_not_found: 'the line after @@ is not in the file',
  ambiguous:
    'its lines are in several places; give more lines around it, or a line after @@ that comes before it',
  no_place: 'lines are only added, and nothing says where; give a line that is there, or one after @@',
};

function refusal(
  where: { path: string; hunk: Hunk; number: number; isFirst: boolean },
  reason: Reason,
  places: readonly number[] = [],
): RpcError {
  const order =
    where.isFirst || reason === 'no_place' || reason === 'ambiguous' ? '' : ' after the hunk before it';
  const lines = places.slice(0, MAX_PLACES_TOLD).map((at) => at + 1);
  const shown = lines.length === 0 ? '' : ` (lines ${lines.join(', ')})`;
  const message = `line ${where.hunk.line}: hunk ${where.number} of ${where.path}: ${REASONS[reason]}${order}${shown}`;
  const facts = { reason: `hunk_${reason}`, path: where.path, hunk: where.number, line: where.hunk.line };
  return invalidParam('patch_text', message, { ...facts, ...(lines.length > 0 && { lines }) });
}
