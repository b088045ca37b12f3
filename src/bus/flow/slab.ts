// Memory that bytes pass through: blocks of one size that are used again, each seen as bytes and as 32-bit words.

import { type Seek, seekingMemory } from './seek.js';

/** Of one block: as much as a pipe holds, so that one read takes all there is. */
export const SLAB_BYTES = 64 * 1024;
/** Free blocks that are kept; what is given back beyond it is left to the collector. */
export const MAX_FREE_SLABS = 128;

/** The scanner reads long strings four bytes at a time, for which a block must begin on a word. */
export interface Slab {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  /** Looks at sixteen bytes at a time; only the block that reads go to can do that. */
  readonly seek: Seek | undefined;
}

const free: Slab[] = [];

/** One for at least `length` bytes, which hold anything. */
export function takeSlab(length = 0): Slab {
  if (length > SLAB_BYTES) return newSlab(length);
  return free.pop() ?? newSlab(SLAB_BYTES);
}

/** Nobody may look at it after this. */
export function giveSlab(slab: Slab): void {
  if (slab.bytes.length === SLAB_BYTES && free.length < MAX_FREE_SLABS) free.push(slab);
}

export function freeSlabs(): number {
  return free.length;
}

export function newSlab(length: number): Slab {
  // Not of Node's pool: it begins on a word and is ours alone. Four words more, which may be looked at with the last one.
  const whole = Buffer.allocUnsafeSlow(Math.ceil(length / 4) * 4 + 16);
  return { bytes: whole.subarray(0, length), words: new Int32Array(whole.buffer), seek: undefined };
}

/** The block that reads go to. */
export function newReadSlab(length: number): Slab {
  const seeking = seekingMemory(length);
  if (seeking === undefined) return newSlab(length);
  const { memory, seek } = seeking;
  return { bytes: Buffer.from(memory, 0, length), words: new Int32Array(memory), seek };
}

/** A copy of these bytes in a block of their own, with a line's end behind them. */
export function slabOf(bytes: Uint8Array): Slab {
  const slab = newSlab(bytes.length + 1);
  slab.bytes.set(bytes);
  slab.bytes[bytes.length] = 10;
  return slab;
}
