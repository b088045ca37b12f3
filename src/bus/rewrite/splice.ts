// Changes one member of a message and leaves every other byte as it is. Only for pools and settings that ask for it.

import type { Slab } from '../flow/slab.js';
import { slabOf } from '../flow/slab.js';
import { Fields } from '../scan/fields.js';
import { scan } from '../scan/scan.js';

const COMMA = 44;
const CLOSE = 125;

/** `bytes[start, end)` with another token between `from` and `to`. */
export function replaceToken(
  bytes: Buffer,
  [start, end]: readonly [number, number],
  [from, to]: readonly [number, number],
  token: Buffer,
): Buffer {
  return Buffer.concat([bytes.subarray(start, from), token, bytes.subarray(to, end)]);
}

/** The line without its top-level `sessionId`, which `found` has seen in it. */
export function withoutSession(slab: Slab, start: number, end: number, found: Fields): Buffer {
  const { bytes } = slab;
  let from = found.sessionKeyStart;
  let to = found.session.end;
  const before = skipBack(bytes, from - 1);
  const after = skipOn(bytes, to);
  if (bytes[before] === COMMA) from = before;
  else if (bytes[after] === COMMA) to = after + 1;
  const line = Buffer.concat([bytes.subarray(start, from), bytes.subarray(to, end)]);
  return found.sessionTwice ? withoutOtherSession(line) : line;
}

/** The line with this `sessionId` as its last top-level member; as it is when it has one. */
export function withSession(slab: Slab, start: number, end: number, found: Fields, token: Buffer): Buffer {
  const { bytes } = slab;
  if (found.sessionKeyStart >= 0) return Buffer.from(bytes.subarray(start, end));
  const close = skipBack(bytes, end - 1);
  if (bytes[close] !== CLOSE) return Buffer.from(bytes.subarray(start, end));
  const isEmpty = bytes[skipBack(bytes, close - 1)] === 123;
  return Buffer.concat([
    bytes.subarray(start, close),
    Buffer.from(isEmpty ? '"sessionId":' : ',"sessionId":'),
    token,
    bytes.subarray(close, end),
  ]);
}

function withoutOtherSession(line: Buffer): Buffer {
  const fields = new Fields();
  const slab = slabOf(line);
  if (!scan(slab, 0, line.length, fields) || fields.session.start < 0) return line;
  return withoutSession(slab, 0, line.length, fields);
}

function skipBack(bytes: Buffer, p: number): number {
  while (isSpace(bytes[p]!)) p -= 1;
  return p;
}

function skipOn(bytes: Buffer, p: number): number {
  while (isSpace(bytes[p]!)) p += 1;
  return p;
}

function isSpace(c: number): boolean {
  return c === 32 || c === 9 || c === 13;
}
