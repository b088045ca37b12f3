// The one piece in which two byte strings differ: what an undo has to keep.

/** Compared at once, before single bytes are. */
const STRIDE_BYTES = 64 * 1024;

export interface Splice {
  readonly start: number;
  /** What was there. */
  readonly removed: Buffer;
  /** How many bytes are there instead. */
  readonly inserted: number;
}

export function spliceBetween(before: Buffer, after: Buffer): Splice {
  const shorter = Math.min(before.length, after.length);
  const start = commonStart(before, after, shorter);
  const end = commonEnd(before, after, shorter - start);
  return {
    start,
    removed: before.subarray(start, before.length - end),
    inserted: after.length - end - start,
  };
}

/** What was before. */
export function reverse(after: Buffer, { start, removed, inserted }: Splice): Buffer {
  return Buffer.concat([after.subarray(0, start), removed, after.subarray(start + inserted)]);
}

function commonStart(one: Buffer, other: Buffer, most: number): number {
  let at = 0;
  while (at + STRIDE_BYTES <= most && one.compare(other, at, at + STRIDE_BYTES, at, at + STRIDE_BYTES) === 0)
    at += STRIDE_BYTES;
  while (at < most && one[at] === other[at]) at += 1;
  return at;
}

function commonEnd(one: Buffer, other: Buffer, most: number): number {
  let length = 0;
  while (length + STRIDE_BYTES <= most) {
    const a = one.length - length;
    const b = other.length - length;
    if (one.compare(other, b - STRIDE_BYTES, b, a - STRIDE_BYTES, a) !== 0) break;
    length += STRIDE_BYTES;
  }
  while (length < most && one[one.length - 1 - length] === other[other.length - 1 - length]) length += 1;
  return length;
}
