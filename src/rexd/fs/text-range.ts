// Ranges of text that put together are the file: a range by bytes gives the characters that begin in it.

import { isUtf8 } from 'node:buffer';

/** What a character can have before the byte one looks at, and behind it. */
export const MAX_CHARACTER_REST = 3;

export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * `range` is in `bytes`, which should hold MAX_CHARACTER_REST more on either side where the file has them. The
 * character a range begins inside of belongs to the range before; the one it ends inside of is given whole, or left to
 * the next range if nothing may be added. Bytes that are part of no character stay where they are.
 */
export function characterRange(bytes: Buffer, { from, to }: ByteRange, mayGrow: boolean): ByteRange {
  const first = characterAround(bytes, from);
  const start = Math.min(first?.to ?? from, Math.max(from, to));
  const last = to > start ? characterAround(bytes, to) : undefined;
  if (first !== undefined && first.to >= to) return { from: first.to, to: first.to }; // inside one character
  if (last === undefined) return { from: start, to };
  return { from: start, to: mayGrow || last.from <= start ? last.to : last.from };
}

/** The character that has `at` inside it: begun before, not over yet. */
function characterAround(bytes: Buffer, at: number): ByteRange | undefined {
  for (let back = 1; back <= MAX_CHARACTER_REST && back <= at; back++) {
    const lead = bytes[at - back] ?? 0;
    if ((lead & 0xc0) === 0x80) continue;
    const from = at - back;
    const to = from + lengthOf(lead);
    return to > at && to <= bytes.length && isUtf8(bytes.subarray(from, to)) ? { from, to } : undefined;
  }
  return undefined;
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
