// Finds where the output of one command ends in the stream of a terminal: at a mark that nobody could have guessed.

const FRAME = 0x1e; // "record separator": programs do not print it

export interface Found {
  readonly before: Buffer;
  /** Undefined until the mark has come. */
  readonly after: Buffer | undefined;
}

export class MarkFinder {
  readonly #mark: Buffer;
  #held: Buffer = Buffer.alloc(0);

  constructor(mark: string) {
    this.#mark = frameMark(mark);
  }

  push(chunk: Buffer): Found {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const at = bytes.indexOf(this.#mark);
    if (at !== -1) {
      this.#held = Buffer.alloc(0);
      return { before: bytes.subarray(0, at), after: bytes.subarray(at + this.#mark.length) };
    }
    const keep = this.#startsAt(bytes);
    this.#held = Buffer.from(bytes.subarray(keep));
    return { before: bytes.subarray(0, keep), after: undefined };
  }

  /** What was held back for a mark that did not come. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** Where a mark may have begun that is not all there. */
  #startsAt(bytes: Buffer): number {
    const first = Math.max(0, bytes.length - this.#mark.length + 1);
    for (let at = bytes.indexOf(FRAME, first); at !== -1; at = bytes.indexOf(FRAME, at + 1))
      if (bytes.subarray(at).equals(this.#mark.subarray(0, bytes.length - at))) return at;
    return bytes.length;
  }
}

function frameMark(mark: string): Buffer {
  return Buffer.from(`\u001e${mark}\u001e`, 'latin1');
}
