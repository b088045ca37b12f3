// Passes over one JSON string: four bytes at a time where it is long, and strict about what a string may hold.

import type { Seek } from '../flow/seek.js';
import type { Slab } from '../flow/slab.js';

const QUOTE = 34;
const BACKSLASH = 92;
/** Short strings, which most are, are over before it would pay to look at words. */
const BYTES_FIRST = 12;

/** `p` is behind the opening quote. Returns what is behind the closing one, or −1. The line's end stops every search. */
export function skipString(slab: Slab, p: number): number {
  const { bytes } = slab;
  const soon = p + BYTES_FIRST;
  for (let c = bytes[p]!; ; c = bytes[p]!) {
    if (c === QUOTE) return p + 1;
    if (c < 32) return -1;
    if (c === BACKSLASH) {
      p = skipEscape(bytes, p + 1);
      if (p < 0) return -1;
    } else p += 1;
    if (p >= soon)
      return slab.seek === undefined ? skipLongString(slab, p) : skipSeeking(bytes, slab.seek, p);
  }
}

function skipSeeking(bytes: Buffer, seek: Seek, p: number): number {
  for (;;) {
    p = seek(p);
    const c = bytes[p]!;
    if (c === QUOTE) return p + 1;
    if (c !== BACKSLASH) return -1;
    p = skipEscape(bytes, p + 1);
    if (p < 0) return -1;
  }
}

function skipLongString(slab: Slab, p: number): number {
  const { bytes, words } = slab;
  for (;;) {
    while ((p & 3) !== 0) {
      const c = bytes[p]!;
      if (c === QUOTE) return p + 1;
      if (c < 32) return -1;
      if (c === BACKSLASH) {
        p = skipEscape(bytes, p + 1);
        if (p < 0) return -1;
      } else p += 1;
    }
    let at = p >> 2;
    while (
      ((flag(words[at]!) | flag(words[at + 1]!) | flag(words[at + 2]!) | flag(words[at + 3]!)) &
        0x80808080) ===
      0
    )
      at += 4;
    while ((flag(words[at]!) & 0x80808080) === 0) at += 1;
    p = at << 2;
    // One of these four bytes ends the string, begins an escape, or may not be there.
    for (let i = 0; i < 4; i += 1) {
      const c = bytes[p]!;
      if (c === QUOTE) return p + 1;
      if (c < 32) return -1;
      if (c === BACKSLASH) {
        p = skipEscape(bytes, p + 1);
        if (p < 0) return -1;
        break;
      }
      p += 1;
    }
  }
}

/**
 * The high bit of a byte is set when it is a quote, a backslash or a control character. It may also be set behind such a
 * byte, never before the first.
 */
function flag(word: number): number {
  const quotes = word ^ 0x22222222;
  const slashes = word ^ 0x5c5c5c5c;
  return (
    ((word - 0x20202020) & ~word) | ((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes)
  );
}

/** `p` is behind the backslash. */
export function skipEscape(bytes: Uint8Array, p: number): number {
  const c = bytes[p]!;
  // " \ / b f n r t
  if (
    c === QUOTE ||
    c === BACKSLASH ||
    c === 47 ||
    c === 98 ||
    c === 102 ||
    c === 110 ||
    c === 114 ||
    c === 116
  )
    return p + 1;
  if (c !== 117) return -1;
  for (let i = 1; i <= 4; i += 1) if (!isHex(bytes[p + i]!)) return -1;
  return p + 5;
}

function isHex(c: number): boolean {
  return (c >= 48 && c <= 57) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70);
}
