// What becomes of a file's lines: stretches that stay, to the byte, and lines that come.

import type { FileLines } from './text-lines.js';

type Part =
  | { readonly kind: 'kept'; readonly from: number; to: number }
  | { readonly kind: 'added'; readonly text: Buffer; readonly end: string };

export class PatchedLines {
  readonly #lines: FileLines;
  readonly #parts: Part[] = [];

  constructor(lines: FileLines) {
    this.#lines = lines;
  }

  /** Lines of the file, as the file has them. */
  keep(from: number, to: number): void {
    const last = this.#parts.at(-1);
    if (from >= to) return;
    if (last?.kind === 'kept' && last.to === from) last.to = to;
    else this.#parts.push({ kind: 'kept', from, to });
  }

  add(text: Buffer, end: string): void {
    this.#parts.push({ kind: 'added', text, end });
  }

  /** With a last line that ends if the file's last line did, and without a line in the middle that does not. */
  join(): Buffer {
    const lines = this.#lines;
    const pieces: Buffer[] = [];
    for (const [i, part] of this.#parts.entries()) {
      const isLast = i === this.#parts.length - 1;
      const isCut = isLast && lines.isOpen;
      if (part.kind === 'added') {
        pieces.push(part.text);
        if (!isCut) pieces.push(Buffer.from(part.end));
        continue;
      }
      const to = isCut ? lines.textEnd(part.to - 1) : lines.start(part.to);
      pieces.push(lines.content.subarray(lines.start(part.from), to));
      if (!isLast && part.to === lines.count && lines.isOpen) pieces.push(Buffer.from(lines.usualEnd));
    }
    return Buffer.concat(pieces);
  }
}
