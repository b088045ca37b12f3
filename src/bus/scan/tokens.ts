// Ids and session ids as keys: the token as it stands in the line, or one spelling for all the ways to write the same.

import { randomInt } from 'node:crypto';
import type { Slab } from '../flow/slab.js';
import type { Token } from './fields.js';
import { skipNumber, skipScalar } from './skip-scalar.js';
import { skipEscape } from './skip-string.js';

/** Another in every process, so that nobody can prepare ids that all fall into one place of a table. */
const FNV_START = randomInt(2 ** 32) | 0;
const FNV_PRIME = 0x01000193;
const AFTER_QUOTE = Math.imul(FNV_START ^ 34, FNV_PRIME);
/** Integers of so many digits are the same text whoever writes them; a program may round longer ones. */
const MAX_PLAIN_DIGITS = 15;

/** Reads an id at `p`: a string or a number. Returns what is behind it, or −1. */
export function readId(slab: Slab, p: number, token: Token): number {
  const { bytes } = slab;
  const c = bytes[p]!;
  token.start = -1;
  if (c === 34) {
    const end = skipToken(bytes, p + 1);
    if (end < 0) return -1;
    token.plain = tokenPlain;
    token.hash = tokenHash;
    token.start = p;
    token.end = end;
    return end;
  }
  if (c !== 45 && (c < 48 || c > 57)) return skipScalar(bytes, p);
  const end = skipNumber(bytes, p);
  if (end < 0) return -1;
  token.plain = isPlainInteger(bytes, p, end);
  token.hash = hashToken(bytes, p, end);
  token.start = p;
  token.end = end;
  return end;
}

/** Of the string that `skipToken` passed last: it has no escapes; the hash of it with its quotes. */
let tokenPlain = true;
let tokenHash = 0;

function skipToken(bytes: Uint8Array, p: number): number {
  let hash = AFTER_QUOTE;
  tokenPlain = true;
  for (let c = bytes[p]!; c !== 34; c = bytes[p]!) {
    if (c < 32) return -1;
    if (c === 92) {
      tokenPlain = false;
      p = skipEscape(bytes, p + 1);
      if (p < 0) return -1;
    } else {
      hash = Math.imul(hash ^ c, FNV_PRIME);
      p += 1;
    }
  }
  tokenHash = Math.imul(hash ^ 34, FNV_PRIME);
  return p + 1;
}

function isPlainInteger(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === 45 ? start + 1 : start;
  if (end - first > MAX_PLAIN_DIGITS || (first > start && bytes[first] === 48)) return false;
  for (let p = first; p < end; p += 1) if (bytes[p]! < 48) return false; // a point; an exponent's sign
  for (let p = first; p < end; p += 1) if (bytes[p]! > 57) return false; // the exponent itself
  return true;
}

/** Reads the value of a `sessionId` at `p` into `token`; anything but a string that is not empty is no session. */
export function readSession(slab: Slab, p: number, token: Token): number {
  const { bytes } = slab;
  token.start = -1;
  if (bytes[p] !== 34) return skipScalar(bytes, p);
  const end = skipToken(bytes, p + 1);
  if (end < 0 || end === p + 2) return end;
  token.start = p;
  token.end = end;
  token.hash = tokenHash; // of a token with escapes it is never used
  token.plain = tokenPlain;
  return end;
}

/** FNV-1a with a start of our own; the table mixes it further. */
export function hashToken(bytes: Uint8Array, start: number, end: number): number {
  let hash = FNV_START;
  for (let p = start; p < end; p += 1) hash = Math.imul(hash ^ bytes[p]!, FNV_PRIME);
  return hash;
}

/** The one spelling of a token that has several: `"\u0041"` is `"A"`, `1.0` is `1`. */
export function canonicalToken(bytes: Buffer, start: number, end: number): Buffer {
  const value = JSON.parse(bytes.toString('utf8', start, end)) as string | number;
  return Buffer.from(typeof value === 'string' ? JSON.stringify(value) : String(value));
}
