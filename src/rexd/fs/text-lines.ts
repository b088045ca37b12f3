// A file as lines: where each begins, and nothing more. Sixty million lines as objects would be gigabytes.

import { TooLargeError } from '../../host/files/errors.js';
import type { Turns } from '../../host/files/turns.js';

/** Lines of a file that a patch can change. */
export const MAX_PATCHED_LINES = 5_000_000;

const SLICE_BYTES = 256 * 1024;
const NEWLINE = 10;
const RETURN = 13;

export type LineEnd = '\n' | '\r\n' | '';

export class FileLines {
  readonly content: Buffer;
  /** One more than there are lines: the last is where the file ends. */
  readonly #starts: Uint32Array;

  static async read(path: string, content: Buffer, turns: Turns): Promise<FileLines> {
    let newlines = 0;
    await inSlices(content, turns, (from, to) => {
      for (let at = from; at < to; at++) if (content[at] === NEWLINE) newlines += 1;
      if (newlines > MAX_PATCHED_LINES) throw new TooLargeError(path, newlines, MAX_PATCHED_LINES, 'lines');
    });
    const isLastOpen = content.length > 0 && content.at(-1) !== NEWLINE;
    const starts = new Uint32Array(newlines + (isLastOpen ? 2 : 1));
    let line = 0;
    await inSlices(content, turns, (from, to) => {
      for (let at = from; at < to; at++) if (content[at] === NEWLINE) starts[++line] = at + 1;
    });
    if (isLastOpen) starts[line + 1] = content.length;
    return new FileLines(content, starts);
  }

  private constructor(content: Buffer, starts: Uint32Array) {
    this.content = content;
    this.#starts = starts;
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  start(line: number): number {
    return this.#starts[line] ?? this.content.length;
  }

  /** Where its text ends, and its line end begins. */
  textEnd(line: number): number {
    return this.start(line + 1) - this.end(line).length;
  }

  end(line: number): LineEnd {
    const [from, to] = [this.start(line), this.start(line + 1)];
    if (to === from || this.content[to - 1] !== NEWLINE) return '';
    return to - 2 >= from && this.content[to - 2] === RETURN ? '\r\n' : '\n';
  }

  /** What lines are given that have no example near them. Only the last line of a file can be without an end. */
  get usualEnd(): '\n' | '\r\n' {
    const end = this.count === 0 ? '' : this.end(0);
    return end === '' ? '\n' : end;
  }

  /** The file ends within a line. */
  get isOpen(): boolean {
    return this.count > 0 && this.end(this.count - 1) === '';
  }
}

async function inSlices(
  content: Buffer,
  turns: Turns,
  visit: (from: number, to: number) => void,
): Promise<void> {
  for (let from = 0; from < content.length; from += SLICE_BYTES) {
    visit(from, Math.min(content.length, from + SLICE_BYTES));
    if (turns.isOver) await turns.pass();
  }
}
