// What is told of a line that was found: its number, where in it, and its text, however long it is.

import { isUtf8 } from 'node:buffer';
import { incompleteTail } from '../../base/utf8.js';
import { ByteFinder, type Needle, STEP_BYTES } from './byte-finder.js';

/** Of a line as it is told, and of each line around it. */
export const MAX_MATCH_TEXT_BYTES = 500;
/** Lines told before and after a match. */
export const MAX_CONTEXT_LINES = 20;
/** Of a line that is too long: what is shown before the match. */
const LEAD_BYTES = 100;

const NEWLINE = 10;
const RETURN = 13;

/** A line with a match, by bytes of the content: where the line begins, and where in it the match does. */
export interface Hit {
  readonly line: number;
  readonly start: number;
  readonly at: number;
}

/** Of one file. */
export interface Found {
  readonly hits: readonly Hit[];
  /** Lines too long for the pattern: whether they match is not known. */
  readonly passedBy: number;
}

export interface LineMatch {
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  /** Without its end. Bytes that are no UTF-8 are shown as U+FFFD. */
  readonly text: string;
  /** The line is longer than the text. */
  readonly cut?: true;
  readonly before?: string[];
  readonly after?: string[];
}

/** Every line with the needle, the first of a line counting. `pause` is awaited between two stretches of work. */
export async function findLiteral(
  content: Buffer,
  needle: Needle,
  most: number,
  pause: () => Promise<void> | undefined,
): Promise<Hit[]> {
  const hits: Hit[] = [];
  const finder = new ByteFinder(content, needle);
  let [line, counted] = [1, 0];
  for (let at = finder.next(); at !== undefined && hits.length < most; at = finder.next()) {
    if (at === 'pause') {
      await pause();
      continue;
    }
    while (counted < at) {
      const to = Math.min(at, counted + STEP_BYTES);
      for (let i = counted; i < to; i++) if (content[i] === NEWLINE) line += 1;
      counted = to;
      if (counted < at) await pause();
    }
    const start = at === 0 ? 0 : content.lastIndexOf(NEWLINE, at - 1) + 1;
    hits.push({ line, start, at });
    const end = content.indexOf(NEWLINE, at);
    if (end === -1) break;
    finder.seek(end + 1);
  }
  return hits;
}

export function describeHit(content: Buffer, hit: Hit, context: number): LineMatch {
  const end = lineEnd(content, hit.start);
  const from = end - hit.start <= MAX_MATCH_TEXT_BYTES ? hit.start : windowStart(content, hit);
  const text = cutText(content, from, end);
  const lines = Math.min(context, MAX_CONTEXT_LINES);
  return {
    line: hit.line,
    column: countCharacters(content, hit.start, hit.at) + 1,
    text,
    ...(end - hit.start > MAX_MATCH_TEXT_BYTES && { cut: true as const }),
    ...(lines > 0 && {
      before: linesBefore(content, hit.start, lines),
      after: linesAfter(content, hit.start, lines),
    }),
  };
}

/** So that the match is in sight, and no character is cut. */
function windowStart(content: Buffer, { start, at }: Hit): number {
  let from = Math.max(start, at - LEAD_BYTES);
  while (from > start && isContinuation(content[from])) from -= 1;
  return from;
}

function cutText(content: Buffer, from: number, end: number): string {
  if (end - from <= MAX_MATCH_TEXT_BYTES) return content.toString('utf8', from, end);
  const part = content.subarray(from, from + MAX_MATCH_TEXT_BYTES);
  return part.toString('utf8', 0, part.length - incompleteTail(part));
}

function linesBefore(content: Buffer, start: number, most: number): string[] {
  const lines: string[] = [];
  for (let end = start - 1; end >= 0 && lines.length < most; ) {
    const from = end === 0 ? 0 : content.lastIndexOf(NEWLINE, end - 1) + 1;
    lines.unshift(cutText(content, from, lineEnd(content, from)));
    end = from - 1;
  }
  return lines;
}

function linesAfter(content: Buffer, start: number, most: number): string[] {
  const lines: string[] = [];
  for (let end = content.indexOf(NEWLINE, start); end !== -1 && lines.length < most; ) {
    const from = end + 1;
    if (from === content.length) break; // the last newline ends the last line
    lines.push(cutText(content, from, lineEnd(content, from)));
    end = content.indexOf(NEWLINE, from);
  }
  return lines;
}

function lineEnd(content: Buffer, from: number): number {
  const newline = content.indexOf(NEWLINE, from);
  const end = newline === -1 ? content.length : newline;
  return end > from && content[end - 1] === RETURN ? end - 1 : end;
}

/** As they are shown: of what is no UTF-8, as many as there are replacements. */
function countCharacters(content: Buffer, from: number, to: number): number {
  let count = 0;
  const bytes = content.subarray(from, to);
  if (!isUtf8(bytes)) {
    for (const _ of bytes.toString('utf8')) count += 1;
    return count;
  }
  for (let i = from; i < to; i++) if (!isContinuation(content[i])) count += 1;
  return count;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
