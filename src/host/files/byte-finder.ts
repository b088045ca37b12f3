// Where a text is in bytes: in time that grows with their number only, and in steps short enough to let others in.
//
// Buffer.indexOf is quick on ordinary text, but on `aaaa…` looking for `aa…ab…aa` it takes bytes times text, and nothing
// can be done meanwhile. So it is asked for the first few bytes of the text only, a window at a time; and when that
// turns out not to help, because they are everywhere, Knuth, Morris and Pratt take over.

/** Bytes gone through between two pauses. */
export const STEP_BYTES = 64 * 1024;
/** Long enough to skip quickly through ordinary text, and so short that the worst case of one window is milliseconds. */
const HEAD_BYTES = 32;
/** What looking at one place costs beside the bytes compared there, in bytes simply gone through. */
const CALL_COST = 64;
const COMPARED_PER_COST = 16;
const PATIENCE = 256 * 1024;

/** What is looked for, with what was learnt of it: one for all the files of a search. */
export class Needle {
  readonly bytes: Uint8Array;
  readonly head: Uint8Array;
  #borders: Uint32Array | undefined;
  #built = 1;
  #length = 0;

  constructor(bytes: Uint8Array) {
    if (bytes.length === 0) throw new RangeError('nothing to look for');
    this.bytes = bytes;
    this.head = bytes.subarray(0, HEAD_BYTES);
  }

  /** Of each beginning, how long the longest shorter beginning is that it ends with. Undefined: ask once more. */
  borders(): Uint32Array | undefined {
    const { bytes } = this;
    const borders = (this.#borders ??= new Uint32Array(bytes.length));
    const end = Math.min(bytes.length, this.#built + STEP_BYTES);
    let length = this.#length;
    for (let at = this.#built; at < end; at++) {
      while (length > 0 && bytes[at] !== bytes[length]) length = borders[length - 1] as number;
      if (bytes[at] === bytes[length]) length += 1;
      borders[at] = length;
    }
    this.#built = end;
    this.#length = length;
    return end === bytes.length ? borders : undefined;
  }
}

export class ByteFinder {
  readonly #content: Buffer;
  readonly #needle: Needle;
  #at = 0;
  #pauseAt = STEP_BYTES;
  /** Spent on looking at places, beyond going through the bytes. */
  #effort = 0;
  #isPatient = true;
  /** How much of the needle the bytes before `#at` are, once patience is over. */
  #matched = 0;

  constructor(content: Buffer, needle: Needle) {
    this.#content = content;
    this.#needle = needle;
  }

  /** From here on. Only ever forward. */
  seek(at: number): void {
    this.#at = at;
    this.#matched = 0;
  }

  /** The next place; `seek` behind it to go on. 'pause': none yet, and others may want a turn before it is called again. */
  next(): number | 'pause' | undefined {
    if (this.#at >= this.#pauseAt) return this.#pause();
    if (this.#isPatient) return this.#nextQuickly();
    const borders = this.#needle.borders();
    return borders === undefined ? 'pause' : this.#nextSurely(borders);
  }

  #pause(): 'pause' {
    this.#pauseAt = this.#at + STEP_BYTES;
    return 'pause';
  }

  #nextQuickly(): number | 'pause' | undefined {
    const content = this.#content;
    const { bytes, head } = this.#needle;
    const last = content.length - bytes.length;
    const end = Math.min(this.#pauseAt, last + 1); // of the places of this step
    while (this.#at < end) {
      const found = indexIn(content, head, this.#at, end + head.length - 1);
      if (found === -1) {
        this.#at = end;
        break;
      }
      this.#at = found;
      this.#effort += CALL_COST + bytes.length / COMPARED_PER_COST;
      if (this.#effort > PATIENCE + 2 * found) this.#isPatient = false;
      const isWhole =
        bytes.length === head.length ||
        content.compare(bytes, 0, bytes.length, found, found + bytes.length) === 0;
      if (isWhole) return found;
      this.#at += 1;
      if (!this.#isPatient) return this.next();
    }
    return this.#at > last ? undefined : this.#pause();
  }

  #nextSurely(borders: Uint32Array): number | 'pause' | undefined {
    const content = this.#content;
    const { bytes } = this.#needle;
    const end = Math.min(this.#pauseAt, content.length);
    let matched = this.#matched;
    for (let at = this.#at; at < end; at++) {
      const byte = content[at];
      while (matched > 0 && byte !== bytes[matched]) matched = borders[matched - 1] as number;
      if (byte === bytes[matched]) matched += 1;
      if (matched === bytes.length) {
        this.seek(at + 1);
        return at + 1 - matched;
      }
    }
    this.#at = end;
    this.#matched = matched;
    return end === content.length ? undefined : this.#pause();
  }
}

/** As `indexOf`, but looking at no byte from `end` on. */
function indexIn(content: Buffer, head: Uint8Array, from: number, end: number): number {
  if (end >= content.length) return content.indexOf(head, from);
  const found = content.subarray(from, end).indexOf(head);
  return found === -1 ? -1 : from + found;
}
