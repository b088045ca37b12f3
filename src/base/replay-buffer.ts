// The last bytes of a stream, addressed by absolute offset, so that a reader can come back and say where it stopped.

export interface Replay {
  /** A copy of the bytes from `at` on. */
  readonly data: Buffer;
  /** Absolute offset of the first byte of `data`. */
  readonly at: number;
  /** How many of the bytes asked for are gone. */
  readonly lost: number;
}

const FIRST_BLOCK_BYTES = 4096;

/** A ring of bytes that grows by doubling up to its capacity: memory is bounded however small the chunks are. */
export class ReplayBuffer {
  readonly #capacity: number;
  #ring: Buffer = Buffer.alloc(0);
  #end = 0;

  constructor(capacityBytes: number) {
    this.#capacity = capacityBytes;
  }

  /** Offset of the oldest byte still held. */
  get start(): number {
    return Math.max(0, this.#end - this.#capacity);
  }

  /** Offset of the next byte to come: how many bytes the stream has had in all. */
  get end(): number {
    return this.#end;
  }

  append(data: Uint8Array): void {
    if (this.#capacity === 0 || data.length === 0) {
      this.#end += data.length;
      return;
    }
    this.#grow(data.length);
    const kept = data.length > this.#ring.length ? data.subarray(data.length - this.#ring.length) : data;
    const at = (this.#end + data.length - kept.length) % this.#ring.length;
    const untilWrap = Math.min(kept.length, this.#ring.length - at);
    this.#ring.set(kept.subarray(0, untilWrap), at);
    this.#ring.set(kept.subarray(untilWrap), 0);
    this.#end += data.length;
  }

  /** What the stream had from `offset` on, at most `max` bytes. Past the end there is nothing, and nothing is lost. */
  since(offset: number, max: number = this.#capacity): Replay {
    const wanted = Math.min(Math.max(0, offset), this.#end);
    const at = Math.max(wanted, this.start);
    const length = Math.min(this.#end - at, max);
    const data = Buffer.allocUnsafe(length);
    if (length > 0) {
      const from = at % this.#ring.length;
      const untilWrap = Math.min(length, this.#ring.length - from);
      this.#ring.copy(data, 0, from, from + untilWrap);
      this.#ring.copy(data, untilWrap, 0, length - untilWrap);
    }
    return { data, at, lost: at - wanted };
  }

  #grow(more: number): void {
    // Until the ring has reached its capacity nothing has wrapped, so a larger one starts with a plain copy.
    const needed = Math.min(this.#capacity, this.#end + more);
    if (needed <= this.#ring.length) return;
    let size = Math.max(FIRST_BLOCK_BYTES, this.#ring.length);
    while (size < needed) size *= 2;
    const larger = Buffer.alloc(Math.min(size, this.#capacity));
    this.#ring.copy(larger);
    this.#ring = larger;
  }
}
