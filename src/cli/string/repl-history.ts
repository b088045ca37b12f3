// What was typed at the prompt, kept for the next time: a file that only its owner can read, of so many lines.

import { appendFileSync, chmodSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolders } from '../../host/make-folders.js';
import { PRIVATE_MODE, replaceFile } from '../../host/store/replace-file.js';

/** Lines that are kept. The file has up to twice as many before it is cut. */
export const MAX_HISTORY_LINES = 1000;
/** A longer line is not kept: it is a text, not something to type again. */
export const MAX_HISTORY_LINE_CHARS = 4096;
/** A file that is larger was not written by us, and is not read. */
export const MAX_HISTORY_BYTES = 32 * 1024 * 1024;

/** Whoever begins with a blank wants it forgotten; what is set as `$NAME`, or typed into a program, may be a secret. */
const NOT_KEPT = /^\s|^\/\/?set\b.*\$|^\/\/send\b|^$/isu;

export class History {
  readonly #file: string;
  #last: string | undefined;

  /** Oldest first. A file that cannot be read is none. */
  readonly lines: readonly string[];

  private constructor(file: string, lines: readonly string[]) {
    this.#file = file;
    this.lines = lines;
    this.#last = lines.at(-1);
  }

  /** Cuts the file when it has grown. */
  static async open(file: string): Promise<History> {
    const all = readLines(file);
    const lines = all.slice(-MAX_HISTORY_LINES);
    if (all.length > 2 * MAX_HISTORY_LINES)
      await replaceFile(file, Buffer.from(`${lines.join('\n')}\n`)).catch(() => {}); // next time, then
    return new History(file, lines);
  }

  /** Whether it is kept. To lose it is no reason to stop. */
  add(line: string): boolean {
    if (NOT_KEPT.test(line) || line === this.#last || line.length > MAX_HISTORY_LINE_CHARS) return false;
    try {
      makeFolders(dirname(this.#file));
      appendFileSync(this.#file, `${line}\n`, { mode: PRIVATE_MODE });
      this.#last = line;
      return true;
    } catch {
      return false;
    }
  }
}

function readLines(file: string): string[] {
  try {
    const { size, mode } = statSync(file);
    if (size > MAX_HISTORY_BYTES) return [];
    if ((mode & 0o077) !== 0) chmodSync(file, PRIVATE_MODE);
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}
