// Copies bytes from one block to another.

/** Below it a loop is faster than the call of anything that copies. */
const LOOP_BYTES = 48;

export function copyBytes(from: Buffer, start: number, end: number, to: Buffer, at: number): void {
  if (end - start > LOOP_BYTES) {
    from.copy(to, at, start, end);
    return;
  }
  for (let p = start; p < end; p += 1, at += 1) to[at] = from[p]!;
}
