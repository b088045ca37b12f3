// A difference as text: two columns of numbers for plain surfaces, a gutter for ChanFlow.

import type { LineRange } from './edit-text.js';
import type { DiffRow, LineDiff } from './line-diff.js';

export interface DiffView {
  /** Unchanged lines shown before and behind a change. */
  readonly context: number;
  readonly maxLines: number;
}

/** Unless a topic says otherwise, by the variables that are named beside each. */
export const DIFF_CONTEXT_LINES = 3;
/** Of one answer: an agent pays for every line. */
export const MAX_DIFF_LINES = 50;
/** Of one line of it: some files are a single line, which would be told whole, and twice. */
export const MAX_DIFF_LINE_CHARS = 2000;
/** The most a topic can ask for. */
export const MAX_VIEW_LINES = 10_000;

export function diffViewOf(variables: ReadonlyMap<string, string>): DiffView {
  return {
    context: numberIn(variables, '_diff_context', DIFF_CONTEXT_LINES),
    maxLines: numberIn(variables, '_diff_max_lines', MAX_DIFF_LINES),
  };
}

/** What is no number from 0 on is as if it was not said. */
export function numberIn(variables: ReadonlyMap<string, string>, name: string, otherwise: number): number {
  const said = variables.get(name) ?? '';
  return /^\d{1,9}$/u.test(said) ? Math.min(Number(said), MAX_VIEW_LINES) : otherwise;
}

export function showDiff(diff: LineDiff, view: DiffView, isNew: boolean): string {
  if (diff.rows.length === 0) return '(no changes)';
  const width = widthOf(diff.last);
  const pad = (number: number | undefined): string => String(number ?? '').padStart(width);
  return cut(diff, view, (row) => {
    if (row.kind === 'gap') return '...';
    if (isNew) return `${pad(row.new)} + ${cutLine(row.text)}`;
    const old = pad(row.kind === 'add' ? undefined : row.old);
    const fresh = pad(row.kind === 'remove' ? undefined : row.new);
    return `${old} ${fresh} ${SIGNS[row.kind]} ${cutLine(row.text)}`;
  });
}

/** Of what is unchanged, only what lies `within`. */
export function showGutter(diff: LineDiff, view: DiffView, within?: LineRange): string {
  const isShown = (row: DiffRow): boolean =>
    row.kind !== 'keep' || within === undefined || (row.new >= within.first && row.new <= within.last);
  const rows = diff.rows.filter(isShown);
  if (rows.length === 0) return '';
  // What was left out is not around the change, but changed itself.
  const width = widthOf(diff.left.rows > 0 ? diff.last : (rows.at(-1) ?? diff.last));
  return cut({ ...diff, rows }, view, (row) => {
    if (row.kind === 'gap') return ' ...';
    const number = String(row.kind === 'remove' ? row.old : row.new).padStart(width);
    return ` ${number} ${row.kind === 'keep' ? ' ' : SIGNS[row.kind]}│ ${cutLine(row.text)}`;
  });
}

/** `Added 2 lines, removed 1 line`. */
export function summarise({ added, removed }: Pick<LineDiff, 'added' | 'removed'>): string {
  const lines = (count: number): string => `${count} line${count === 1 ? '' : 's'}`;
  if (added === 0 && removed === 0) return 'No changes';
  if (removed === 0) return `Added ${lines(added)}`;
  return added === 0 ? `Removed ${lines(removed)}` : `Added ${lines(added)}, removed ${lines(removed)}`;
}

const SIGNS = { keep: '|', remove: '-', add: '+' } as const;

/** Rows that are enough to show all that may be shown, also of a block, whose surroundings do not count. */
export function rowsFor({ maxLines, context }: DiffView): number {
  return maxLines + context + 1;
}

function cut({ rows, left }: LineDiff, { maxLines }: DiffView, show: (row: DiffRow) => string): string {
  const shown = rows.slice(0, maxLines).map(show);
  const more = rows.slice(maxLines).filter(({ kind }) => kind === 'add' || kind === 'remove').length;
  if (rows.length > maxLines || left.changed > 0)
    shown.push(`... (${more + left.changed} more lines changed, truncated at ${maxLines} lines)`);
  return shown.join('\n');
}

/** Never half a character. */
function cutLine(text: string): string {
  if (text.length <= MAX_DIFF_LINE_CHARS) return text;
  const shown = text.slice(0, MAX_DIFF_LINE_CHARS).replace(/[\uD800-\uDBFF]$/u, '');
  return `${shown}… (${text.length - shown.length} more characters)`;
}

/** The last row has the largest numbers. */
function widthOf(last: { readonly old: number; readonly new: number }): number {
  return String(Math.max(last.old, last.new)).length;
}
