// Where in a file the lines of a hunk are: exactly, or but for space at their ends; in one place, or nowhere.

import type { Turns } from '../../host/files/turns.js';
import type { FileLines } from './text-lines.js';

/** From strict to lenient; the first that finds anything decides. */
const LIKENESSES = ['exact', 'but for space at the end', 'but for space at either end'] as const;
type Likeness = (typeof LIKENESSES)[number];

/** Lines looked at between two glances at the clock. */
const LINES_PER_LOOK = 256;

export class LineFinder {
  readonly #lines: FileLines;
  readonly #turns: Turns;

  constructor(lines: FileLines, turns: Turns) {
    this.#lines = lines;
    this.#turns = turns;
  }

  /** Every place at or after `from` where `wanted` stands, by the strictest likeness that has any. */
  async find(wanted: readonly Buffer[], from: number): Promise<number[]> {
    for (const like of LIKENESSES) {
      const found = await this.#findAll(
        wanted.map((text) => trimmed(text, like)),
        from,
        like,
      );
      if (found.length > 0) return found;
    }
    return [];
  }

  /** As `find`, but only where the file ends. */
  findAtEnd(wanted: readonly Buffer[], from: number): number[] {
    const at = this.#lines.count - wanted.length;
    if (at < from) return [];
    const isThere = LIKENESSES.some((like) =>
      wanted.every((text, i) => this.#text(at + i, like).equals(trimmed(text, like))),
    );
    return isThere ? [at] : [];
  }

  /** Knuth, Morris and Pratt: a file of a million equal lines takes no longer than another. */
  async #findAll(wanted: readonly Buffer[], from: number, like: Likeness): Promise<number[]> {
    const found: number[] = [];
    const borders = bordersOf(wanted);
    let matched = 0;
    for (let at = from; at < this.#lines.count; at++) {
      while (matched > 0 && !this.#is(at, wanted[matched], like)) matched = borders[matched - 1] ?? 0;
      if (this.#is(at, wanted[matched], like)) matched += 1;
      if (matched === wanted.length) {
        found.push(at - wanted.length + 1);
        matched = borders[matched - 1] ?? 0;
      }
      if (at % LINES_PER_LOOK === 0 && this.#turns.isOver) await this.#turns.pass();
    }
    return found;
  }

  /** Nothing is made for lines that differ, and few lines are as long as the wanted one by chance. */
  #is(line: number, text: Buffer | undefined, like: Likeness): boolean {
    const { content } = this.#lines;
    if (text === undefined) return false;
    const [from, to] = [this.#lines.start(line), this.#lines.textEnd(line)];
    if (like === 'exact') return to - from === text.length && isAt(content, from, text);
    const end = skipBack(content, from, to);
    const start = like === 'but for space at the end' ? from : skipOn(content, from, end);
    return end - start === text.length && isAt(content, start, text);
  }

  #text(line: number, like: Likeness): Buffer {
    const { content } = this.#lines;
    return trimmed(content.subarray(this.#lines.start(line), this.#lines.textEnd(line)), like);
  }
}

function isAt(content: Buffer, from: number, text: Buffer): boolean {
  if (text.length === 0) return true;
  if (content[from] !== text[0]) return false;
  return content.compare(text, 0, text.length, from, from + text.length) === 0;
}

function bordersOf(wanted: readonly Buffer[]): number[] {
  const borders = [0];
  for (let at = 1, length = 0; at < wanted.length; at++) {
    const text = wanted[at] as Buffer;
    while (length > 0 && !text.equals(wanted[length] as Buffer)) length = borders[length - 1] ?? 0;
    if (text.equals(wanted[length] as Buffer)) length += 1;
    borders.push(length);
  }
  return borders;
}

function trimmed(text: Buffer, like: Likeness): Buffer {
  if (like === 'exact') return text;
  const end = skipBack(text, 0, text.length);
  return text.subarray(like === 'but for space at the end' ? 0 : skipOn(text, 0, end), end);
}

function skipBack(bytes: Buffer, from: number, to: number): number {
  let end = to;
  while (end > from && isSpace(bytes[end - 1])) end -= 1;
  return end;
}

function skipOn(bytes: Buffer, from: number, to: number): number {
  let start = from;
  while (start < to && isSpace(bytes[start])) start += 1;
  return start;
}

/** By bytes: to `trim` a byte of a letter may look like a space. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || (byte !== undefined && byte >= 0x09 && byte <= 0x0d);
}
