// Neighbouring lines for the same destination are copied as one span.

import type { Output } from './output.js';
import type { Slab } from './slab.js';

export class Batch {
  #destination: Output | undefined;
  #slab: Slab | undefined;
  #start = 0;
  #end = 0;
  #source: unknown;

  /** `slab.bytes[start, end)` is a line with its end. It is copied by `commit`, or when a line comes that is not its neighbour. */
  add(destination: Output, slab: Slab, start: number, end: number, source: unknown): void {
    if (this.#destination === destination && this.#slab === slab && this.#end === start) {
      this.#end = end;
      return;
    }
    this.commit();
    if (destination.framed) {
      destination.appendFrame(slab.bytes, start, end - 1, source);
      return;
    }
    this.#destination = destination;
    this.#slab = slab;
    this.#start = start;
    this.#end = end;
    this.#source = source;
  }

  /** Before the block is used for something else, and before anything else is appended to the destination. */
  commit(): void {
    const destination = this.#destination;
    if (destination === undefined || this.#slab === undefined) return;
    this.#destination = undefined;
    destination.append(this.#slab.bytes, this.#start, this.#end, this.#source);
  }
}
