// Some lines of a text that comes in chunks, found without holding more of it than is shown.

/** What one `read` shows, in bytes of its lines. */
export const MAX_READ_BYTES = 48 * 1024;
/** Of one line; the rest of a longer one is counted and left out. */
export const MAX_SHOWN_LINE_BYTES = 2000;

const NEWLINE = 0x0a;

export interface WindowLine {
  readonly number: number;
  readonly bytes: Buffer;
  /** Bytes of the line that were left out. */
  readonly cut: number;
}

/** Lines `first` to `last`, both from 1 and included. */
export class LineWindow {
  readonly lines: WindowLine[] = [];
  readonly #first: number;
  readonly #last: number;
  #number = 1;
  #shownBytes = 0;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #cut = 0;
  /** Something stands on the line that is not over yet. */
  #begun = false;
  #full = false;

  constructor(first: number, last: number) {
    this.#first = first;
    this.#last = last;
  }

  /** Nothing that comes now would be shown. */
  get done(): boolean {
    return this.#full || this.#number > this.#last;
  }

  /** The line that was next when there was no more room. */
  get nextLine(): number {
    return this.#number;
  }

  /** Lines seen so far: all of them, once the end was. */
  get seenLines(): number {
    return this.#number - (this.#begun ? 0 : 1);
  }

  push(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length && !this.done) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.length : newline;
      this.#begun ||= end > start;
      if (this.#number >= this.#first) this.#take(chunk.subarray(start, end));
      if (newline === -1) return;
      this.#finishLine();
      start = newline + 1;
    }
  }

  end(): void {
    if (this.#begun && !this.done) this.#finishLine();
  }

  #take(bytes: Buffer): void {
    const taken = bytes.subarray(0, MAX_SHOWN_LINE_BYTES - this.#partBytes);
    if (taken.length > 0) this.#parts.push(taken);
    this.#partBytes += taken.length;
    this.#cut += bytes.length - taken.length;
  }

  #finishLine(): void {
    if (this.#number >= this.#first) {
      if (this.lines.length > 0 && this.#shownBytes + this.#partBytes > MAX_READ_BYTES) {
        this.#full = true;
        return;
      }
      this.#shownBytes += this.#partBytes + 1;
      this.lines.push({ number: this.#number, bytes: Buffer.concat(this.#parts), cut: this.#cut });
    }
    this.#parts = [];
    this.#partBytes = this.#cut = 0;
    this.#number += 1;
    this.#begun = false;
  }
}

/** Lines of a text that comes in chunks. */
export class LineCounter {
  #lines = 0;
  #begun = false;

  get lines(): number {
    return this.#lines + (this.#begun ? 1 : 0);
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) this.#lines += 1;
    this.#begun = chunk.at(-1) !== NEWLINE;
  }
}
