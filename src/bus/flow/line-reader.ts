// Finds the lines in what is read. A line that lies whole in a read is not copied; one that straddles reads is, once.

import { copyBytes } from './copy.js';
import { giveSlab, type Slab, takeSlab } from './slab.js';

export interface MessageSink {
  /** `slab.bytes[start, end)` is a message that is not blank, and the byte at `end` a line feed; until this returns. False: no more. */
  message(slab: Slab, start: number, end: number): boolean;
  /** Lines found so far must be copied now: the block they lie in is about to be used again. */
  commit(): void;
  /** A message is longer than `maxBytes`: its first bytes. False: no more. True: it is skipped, and the rest read on. */
  tooLong(slab: Slab, start: number, end: number): boolean;
  /** Of one that was skipped, the end is here: its last bytes, as far as they were kept. */
  skipped(tail: Buffer): void;
}

export interface MessageReader {
  maxBytes: number;
  /** `slab.bytes[0, length)` was read; the byte behind it is ours to write. */
  push(slab: Slab, length: number): void;
  /** Bytes of a message whose end is still to come. */
  readonly heldBytes: number;
  /** Nothing more will come: gives back what is held. */
  close(): void;
}

/** Of a line that is skipped, as much of its end is kept as it takes to see whom it was an answer to. */
export const SKIPPED_TAIL_BYTES = 256;

export class LineReader implements MessageReader {
  maxBytes: number;
  readonly #sink: MessageSink;
  #carry: Slab | undefined;
  #carried = 0;
  #skipping = false;
  #tail: Buffer = Buffer.alloc(0);
  #closed = false;

  constructor(sink: MessageSink, maxBytes: number) {
    this.#sink = sink;
    this.maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#carried;
  }

  push(slab: Slab, length: number): void {
    if (this.#closed) return;
    const { bytes } = slab;
    bytes[length] = 10; // stops the search; what lies behind is of an earlier read
    let p = this.#carried > 0 || this.#skipping ? this.#finishLine(slab, length) : 0;
    while (p < length) {
      const end = bytes.indexOf(10, p);
      if (end === length) break;
      if (!this.#emit(slab, p, end)) return;
      p = end + 1;
    }
    this.#sink.commit();
    if (p < length && !this.#closed) this.#carryOver(bytes, p, length);
  }

  close(): void {
    this.#closed = true;
    this.#dropCarry();
  }

  /** Returns where the next line begins, or `length`. */
  #finishLine(slab: Slab, length: number): number {
    const end = slab.bytes.indexOf(10, 0);
    if (this.#skipping) {
      this.#keepTail(slab.bytes, end);
      if (end === length) return length;
      this.#skipping = false;
      this.#sink.skipped(this.#tail);
      this.#tail = Buffer.alloc(0);
      return end + 1;
    }
    if (end === length) {
      this.#carryOver(slab.bytes, 0, length);
      return length;
    }
    this.#carryOver(slab.bytes, 0, end + 1, end);
    const carry = this.#carry;
    if (carry === undefined) return this.#skipping ? this.#finishLine(slab, length) : length;
    const go = this.#emit(carry, 0, this.#carried - 1);
    this.#sink.commit();
    this.#dropCarry();
    return go ? end + 1 : length;
  }

  #emit(slab: Slab, start: number, end: number): boolean {
    if (end - start > this.maxBytes) return this.#refuse(slab, start, end, slab.bytes.subarray(start, end));
    if (end === start || (end === start + 1 && slab.bytes[start] === 13)) return true;
    if (this.#sink.message(slab, start, end)) return true;
    this.close();
    return false;
  }

  /** The line lies whole before us, and is too long all the same. */
  #refuse(slab: Slab, start: number, end: number, line: Buffer): boolean {
    this.#sink.commit();
    if (!this.#sink.tooLong(slab, start, end)) {
      this.close();
      return false;
    }
    this.#sink.skipped(Buffer.from(line.subarray(-SKIPPED_TAIL_BYTES)));
    return true;
  }

  /** `end` is where the line ends, when it does: its line feed does not count. */
  #carryOver(bytes: Buffer, start: number, stop: number, end = stop): void {
    const total = this.#carried + stop - start;
    if (this.#carried + end - start > this.maxBytes) {
      this.#beginSkipping(bytes, start, stop);
      return;
    }
    const carry = this.#growCarry(total + 1);
    copyBytes(bytes, start, stop, carry.bytes, this.#carried);
    this.#carried = total;
  }

  #beginSkipping(bytes: Buffer, start: number, stop: number): void {
    const carry = this.#growCarry(this.#carried + 1 + SKIPPED_TAIL_BYTES * 2);
    const more = Math.min(stop - start, SKIPPED_TAIL_BYTES);
    copyBytes(bytes, start, start + more, carry.bytes, this.#carried);
    const length = this.#carried + more;
    carry.bytes[length] = 10;
    const go = this.#sink.tooLong(carry, 0, length);
    this.#dropCarry();
    if (go) this.#skipping = true;
    else this.close();
    this.#keepTail(bytes.subarray(start, stop), stop - start);
  }

  #keepTail(bytes: Buffer, end: number): void {
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(Math.max(0, end - SKIPPED_TAIL_BYTES), end)]);
    this.#tail = this.#tail.subarray(-SKIPPED_TAIL_BYTES);
  }

  #growCarry(length: number): Slab {
    const old = this.#carry;
    if (old !== undefined && old.bytes.length >= length) return old;
    const larger = takeSlab(old === undefined ? length : Math.max(length, old.bytes.length * 2));
    if (old !== undefined) {
      copyBytes(old.bytes, 0, this.#carried, larger.bytes, 0);
      giveSlab(old);
    }
    this.#carry = larger;
    return larger;
  }

  #dropCarry(): void {
    if (this.#carry !== undefined) giveSlab(this.#carry);
    this.#carry = undefined;
    this.#carried = 0;
  }
}
