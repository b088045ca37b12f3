// Where in a file the lines of a hunk are: exactly, or but for space at their ends; in one place, or nowhere.

import type { FileLine } from './text-lines.js';

/** From strict to lenient; the first that finds anything decides. */
const LIKENESSES: readonly ((text: string) => string)[] = [
  (text) => text,
  trimRight,
  (text) => trimLeft(trimRight(text)),
];

export class LineFinder {
  readonly #lines: readonly FileLine[];
  /** The lines as each likeness sees them, made when first needed. */
  readonly #views: (readonly string[] | undefined)[] = [];

  constructor(lines: readonly FileLine[]) {
    this.#lines = lines;
  }

  /** Every place at or after `from` where `wanted` stands, by the strictest likeness that has any. */
  find(wanted: readonly string[], from: number): number[] {
    return this.#strictest((view, like) => findAll(view, wanted.map(like), from));
  }

  /** As `find`, but only where the file ends. */
  findAtEnd(wanted: readonly string[], from: number): number[] {
    const at = this.#lines.length - wanted.length;
    if (at < from) return [];
    return this.#strictest((view, like) =>
      wanted.every((text, i) => view[at + i] === like(text)) ? [at] : [],
    );
  }

  #strictest(look: (view: readonly string[], like: (text: string) => string) => number[]): number[] {
    for (const [i, like] of LIKENESSES.entries()) {
      const view = (this.#views[i] ??= this.#lines.map(({ text }) => like(text)));
      const found = look(view, like);
      if (found.length > 0) return found;
    }
    return [];
  }
}

/** Knuth, Morris and Pratt: a file of a million equal lines takes no longer than another. */
function findAll(lines: readonly string[], wanted: readonly string[], from: number): number[] {
  const found: number[] = [];
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < lines.length; at++) {
    while (matched > 0 && lines[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (lines[at] === wanted[matched]) matched += 1;
    if (matched === wanted.length) {
      found.push(at - wanted.length + 1);
      matched = borders[matched - 1] ?? 0;
    }
  }
  return found;
}

function bordersOf(wanted: readonly string[]): number[] {
  const borders = [0];
  for (let at = 1, length = 0; at < wanted.length; at++) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0;
    if (wanted[at] === wanted[length]) length += 1;
    borders.push(length);
  }
  return borders;
}

/** By hand: the lines are bytes, and to `trim` a byte of a letter may look like a space. */
function trimRight(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function trimLeft(text: string): string {
  let start = 0;
  while (start < text.length && isSpace(text.charCodeAt(start))) start += 1;
  return text.slice(start);
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
