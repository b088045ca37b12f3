// What an edit did, by lines: only the part that differs is looked at, however large the file is.

/** Lines of each side that are compared one by one; where more differ, all of them count as changed. */
export const MAX_COMPARED_LINES = 5000;
/** Steps of the comparison: two texts with nothing in common are not worth more. */
const MAX_STEPS = 1000;

const STRIDE_CHARS = 16 * 1024;

export interface DiffRow {
  readonly kind: 'keep' | 'remove' | 'add' | 'gap';
  /** From 1; of the old text, and of the new one. */
  readonly old: number;
  readonly new: number;
  readonly text: string;
}

export interface LineDiff {
  /** Not all of them when there are more than were asked for. */
  readonly rows: readonly DiffRow[];
  /** The numbers of the last line there is, shown or not. */
  readonly last: { readonly old: number; readonly new: number };
  /** Rows that were left out; of those, `changed` are more than what is around a change. */
  readonly left: { readonly rows: number; readonly changed: number };
  readonly added: number;
  readonly removed: number;
}

interface Step {
  readonly kind: 'keep' | 'remove' | 'add';
  readonly lines: readonly string[];
  /** How many there are, when `lines` are only the first. */
  readonly count?: number;
}

/** `maxRows`: more than so many are counted, not made; of a large file that was written anew there are as many as it has lines. */
export async function diffLines(
  before: string,
  after: string,
  context: number,
  maxRows = Infinity,
): Promise<LineDiff> {
  if (before === after) return NO_DIFFERENCE;
  const { start, oldEnd, newEnd } = findDifference(before, after);
  const steps = await compare(before.slice(start, oldEnd), after.slice(start, newEnd), maxRows);
  const first = countBreaks(before, start) + 1;
  const lead = linesBefore(before, start, context);
  const tail = linesOf(after.slice(newEnd, endOfLines(after, newEnd, context)));
  const all: Step[] = [{ kind: 'keep', lines: lead }, ...steps, { kind: 'keep', lines: tail }];
  return layOut(all, first - lead.length, context, maxRows);
}

const NO_DIFFERENCE: LineDiff = {
  rows: [],
  last: { old: 1, new: 1 },
  left: { rows: 0, changed: 0 },
  added: 0,
  removed: 0,
};

/** The whole lines that differ; before and behind them both texts are the same. */
function findDifference(before: string, after: string): { start: number; oldEnd: number; newEnd: number } {
  const shorter = Math.min(before.length, after.length);
  const start = startOfLine(before, commonStart(before, after, shorter));
  const same = commonEnd(before, after, shorter - start);
  let oldEnd = before.length - same;
  const isBoundary = (text: string, at: number): boolean => at === start || text[at - 1] === '\n';
  if (!isBoundary(before, oldEnd) || !isBoundary(after, after.length - same)) {
    const feed = before.indexOf('\n', oldEnd);
    oldEnd = feed === -1 ? before.length : feed + 1;
  }
  return { start, oldEnd, newEnd: after.length - (before.length - oldEnd) };
}

/** Long pieces first: two strings are compared faster than their characters. */
function commonStart(one: string, other: string, most: number): number {
  let at = 0;
  while (at + STRIDE_CHARS <= most && one.slice(at, at + STRIDE_CHARS) === other.slice(at, at + STRIDE_CHARS))
    at += STRIDE_CHARS;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

function commonEnd(one: string, other: string, most: number): number {
  let length = 0;
  const piece = (text: string): string =>
    text.slice(text.length - length - STRIDE_CHARS, text.length - length);
  while (length + STRIDE_CHARS <= most && piece(one) === piece(other)) length += STRIDE_CHARS;
  while (
    length < most &&
    one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)
  )
    length += 1;
  return length;
}

async function compare(before: string, after: string, maxRows: number): Promise<Step[]> {
  const [oldCount, newCount] = [countLines(before), countLines(after)];
  if (oldCount > MAX_COMPARED_LINES || newCount > MAX_COMPARED_LINES)
    return [
      { kind: 'remove', lines: linesOf(before, maxRows), count: oldCount },
      { kind: 'add', lines: linesOf(after, maxRows), count: newCount },
    ];
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const whole: Step[] = [
    { kind: 'remove', lines: old },
    { kind: 'add', lines: fresh },
  ];
  if (old.length === 0 || fresh.length === 0) return whole;
  const { diffArrays } = await import('diff');
  const parts = diffArrays([...old], [...fresh], { maxEditLength: MAX_STEPS });
  return (
    parts?.map(({ added, removed, value }) => ({
      kind: added ? 'add' : removed ? 'remove' : 'keep',
      lines: value,
    })) ?? whole
  );
}

function layOut(steps: readonly Step[], first: number, context: number, maxRows: number): LineDiff {
  const rows: DiffRow[] = [];
  const count = { added: 0, removed: 0 };
  const left = { rows: 0, changed: 0 };
  let [old, fresh] = [first, first];
  let last = { old, new: fresh };
  const push = (row: DiffRow): void => {
    last = { old: row.old, new: row.new };
    if (rows.length < maxRows) rows.push(row);
    else {
      left.rows += 1;
      if (row.kind === 'add' || row.kind === 'remove') left.changed += 1;
    }
  };
  for (const [index, { kind, lines, count: all = lines.length }] of steps.entries()) {
    for (const [at, line] of lines.entries()) {
      const text = line.replace(/\r?\n$/u, '');
      const isFar = at >= context && at < lines.length - context;
      if (kind !== 'keep' || !isFar || index === 0 || index === steps.length - 1)
        push({ kind, old, new: fresh, text });
      else if (at === context) push({ kind: 'gap', old, new: fresh, text: '' });
      if (kind !== 'add') old += 1;
      if (kind !== 'remove') fresh += 1;
    }
    const untold = all - lines.length;
    if (kind !== 'add') old += untold;
    if (kind !== 'remove') fresh += untold;
    if (kind === 'add') count.added += all;
    if (kind === 'remove') count.removed += all;
    if (untold === 0) continue;
    left.rows += untold;
    left.changed += untold;
    last = kind === 'add' ? { old, new: fresh - 1 } : { old: old - 1, new: fresh };
  }
  return { rows, last, left, ...count };
}

/** With their ends, so that a change of those is one, too. */
function linesOf(text: string, most = Infinity): string[] {
  const lines: string[] = [];
  for (let at = 0; at < text.length && lines.length < most; ) {
    const end = endOfLines(text, at, 1);
    lines.push(text.slice(at, end));
    at = end;
  }
  return lines;
}

function linesBefore(text: string, end: number, count: number): string[] {
  let start = end;
  for (let left = count; left > 0 && start > 0; left--) start = startOfLine(text, start - 1);
  return linesOf(text.slice(start, end));
}

function startOfLine(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function endOfLines(text: string, from: number, count: number): number {
  let end = from;
  for (let left = count; left > 0 && end < text.length; left--) {
    const feed = text.indexOf('\n', end);
    end = feed === -1 ? text.length : feed + 1;
  }
  return end;
}

function countLines(text: string): number {
  return text === '' ? 0 : countBreaks(text, text.length - 1) + 1;
}

/** Line ends before a place. */
export function countBreaks(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
