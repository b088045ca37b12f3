// The blocks of a document: what lies between two markers, or below a heading; found by their ids, never inside of code.

import { findHeadings, type Heading, slugOf } from './headings.js';
import { scanLines, type ScannedLine } from './lines.js';

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Block {
  readonly kind: 'marker' | 'anchor' | 'heading';
  /** With its markers, or its heading. */
  readonly outer: Span;
  readonly inner: Span;
}

export interface BlockProblem {
  /** From 1. */
  readonly line: number;
  readonly code: 'DUPLICATE_BLOCK_ID' | 'UNEXPECTED_BLOCK_CLOSE' | 'MISMATCHED_BLOCK' | 'UNCLOSED_BLOCK';
  readonly message: string;
}

interface MarkedBlock {
  readonly id: string;
  readonly outer: Span;
  readonly inner: Span;
}

const MARKER = /^<!--[ \t]*([#/])([A-Za-z0-9_-]+)[ \t]*-->$/u;

/** Markers first, then the anchor of a heading, then its slug; the first of several. */
export function findBlock(
  text: string,
  id: string,
  lines: readonly ScannedLine[] = scanLines(text),
): Block | undefined {
  const { blocks } = pairMarkers(text, lines);
  const marked = blocks.find((block) => block.id === id);
  if (marked !== undefined) return { kind: 'marker', outer: marked.outer, inner: marked.inner };
  const headings = findHeadings(text, lines);
  const anchored = headings.find(({ anchor }) => anchor === id);
  const heading = anchored ?? headings.find((each) => id !== '' && slugOf(each.text) === id);
  if (heading === undefined) return undefined;
  const end = endOfSection(heading, headings, blocks, text.length);
  return {
    kind: anchored === undefined ? 'heading' : 'anchor',
    outer: { start: heading.start, end },
    inner: { start: heading.next, end },
  };
}

/** What a reader of the block sees: a heading belongs to it, markers do not. */
export function textOfBlock(text: string, { kind, outer, inner }: Block): string {
  const { start, end } = kind === 'marker' ? inner : outer;
  return text.slice(start, end).trim();
}

/** The blocks that have markers, in the order in which they begin. Headings can be addressed, too, but are not listed. */
export function listBlocks(
  text: string,
  lines: readonly ScannedLine[] = scanLines(text),
): { readonly ids: string[]; readonly problems: BlockProblem[] } {
  const { blocks, problems } = pairMarkers(text, lines);
  return { ids: blocks.map(({ id }) => id), problems };
}

function pairMarkers(
  text: string,
  lines: readonly ScannedLine[],
): { blocks: MarkedBlock[]; problems: BlockProblem[] } {
  const blocks: MarkedBlock[] = [];
  const problems: BlockProblem[] = [];
  const open: { id: string; line: ScannedLine; number: number; duplicate: boolean }[] = [];
  const seen = new Set<string>();
  /** How often each is open: what is not need not be looked for. */
  const depths = new Map<string, number>();
  const count = (id: string, more: number): void => void depths.set(id, (depths.get(id) ?? 0) + more);
  const report = (line: number, code: BlockProblem['code'], message: string): void => {
    problems.push({ line, code, message: `${code}: ${message}` });
  };
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (line.fence !== undefined || line.frontmatter || line.comment) continue;
    const marker = markerOf(text, line);
    if (marker === undefined) continue;
    const { id } = marker;
    if (marker.opens) {
      const duplicate = seen.has(id);
      if (duplicate) report(number, 'DUPLICATE_BLOCK_ID', `there is a block #${id} already`);
      seen.add(id);
      open.push({ id, line, number, duplicate });
      count(id, 1);
      continue;
    }
    if ((depths.get(id) ?? 0) === 0) {
      report(number, 'UNEXPECTED_BLOCK_CLOSE', `#${id} is closed but not open`);
      continue;
    }
    const ended = open.splice(open.findLastIndex((each) => each.id === id));
    for (const each of ended) count(each.id, -1);
    const [closed, ...left] = ended;
    if (left.length > 0)
      report(number, 'MISMATCHED_BLOCK', `#${id} is closed while #${left.at(-1)?.id} is open`);
    if (closed === undefined || closed.duplicate) continue;
    blocks.push({
      id,
      outer: { start: closed.line.start, end: line.next },
      inner: { start: closed.line.next, end: line.start },
    });
  }
  for (const { id, number: at } of open) report(at, 'UNCLOSED_BLOCK', `#${id} is never closed`);
  blocks.sort((one, other) => one.outer.start - other.outer.start);
  problems.sort((one, other) => one.line - other.line);
  return { blocks, problems };
}

function markerOf(text: string, { start, end }: ScannedLine): { id: string; opens: boolean } | undefined {
  let at = start;
  while (at < end && (text[at] === ' ' || text[at] === '\t')) at += 1;
  if (!text.startsWith('<!--', at)) return undefined;
  const found = MARKER.exec(text.slice(at, end).trimEnd());
  if (found === null) return undefined;
  return { id: found[2] ?? '', opens: found[1] === '#' };
}

/**
 * The next heading of the same or a higher level; but a pair of markers is never torn: a section ends with the block it
 * stands in, and before a block that reaches further than it.
 */
function endOfSection(
  heading: Heading,
  headings: readonly Heading[],
  blocks: readonly MarkedBlock[],
  length: number,
): number {
  const following = headings.find(({ start, level }) => start > heading.start && level <= heading.level);
  let end = following?.start ?? length;
  for (const { inner } of blocks)
    if (inner.start <= heading.start && inner.end >= heading.next) end = Math.min(end, inner.end);
  for (const { outer } of blocks)
    if (outer.start >= heading.next && outer.start < end && outer.end > end) end = outer.start;
  return end;
}
