// Reads one line: is it a JSON object, to the letter, and where are the fields that routing needs. Builds no values.

import type { Slab } from '../flow/slab.js';
import type { Fields } from './fields.js';
import {
  escapedKeyAt,
  ID_KEY,
  keyAt,
  METHOD_KEY,
  OTHER_KEY,
  PARAMS_KEY,
  POOL_KEY,
  REQUEST_ID_KEY,
  RESULT_KEY,
  SESSION_KEY,
} from './keys.js';
import { skipEscape, skipString } from './skip-string.js';
import { skipScalar } from './skip-scalar.js';
import { readId, readSession } from './tokens.js';

const OBJECT = 1;
const ARRAY = 0;

/** What is open around the place that is read. Grows with the deepest line so far, which a line's cap bounds. */
let open = new Uint8Array(256);

/**
 * The line is `slab.bytes[start, end)` and the byte at `end` must be a line feed: it stops every search, so that none
 * needs to count. True: exactly what JSON.parse takes for an object (bytes that are no UTF-8 pass inside strings).
 */
export function scan(slab: Slab, start: number, end: number, found: Fields): boolean {
  const { bytes } = slab;
  found.clear();
  let p = skipSpace(bytes, start);
  if (bytes[p] !== 123) return false;
  p += 1;
  let depth = 1;
  let kind = OBJECT;
  let first = true;
  /** The top-level key whose value is being read. */
  let section = OTHER_KEY;
  for (;;) {
    p = skipSpace(bytes, p);
    let c = bytes[p]!;
    if (!first || (c !== 125 && c !== 93)) {
      let key = OTHER_KEY;
      if (kind === OBJECT) {
        if (c !== 34) return false;
        const keyStart = p + 1;
        let escaped = false;
        p = keyStart;
        for (c = bytes[p]!; c !== 34; c = bytes[p]!) {
          if (c < 32) return false;
          if (c === 92) {
            escaped = true;
            p = skipEscape(bytes, p + 1);
            if (p < 0) return false;
          } else p += 1;
        }
        if (depth <= 2) {
          key = escaped ? escapedKeyAt(bytes, keyStart, p) : keyAt(bytes, keyStart, p);
          if (depth === 1) section = key;
          else if (key !== SESSION_KEY || (section !== PARAMS_KEY && section !== RESULT_KEY)) key = OTHER_KEY;
          if (key === SESSION_KEY && depth === 1) noteSessionKey(found, keyStart - 1);
        }
        p += 1;
        if (bytes[p] !== 58) p = skipSpace(bytes, p);
        if (bytes[p] !== 58) return false;
        p = skipSpace(bytes, p + 1);
        c = bytes[p]!;
      }
      if (c === 123 || c === 91) {
        if (key !== OTHER_KEY) openField(found, key, depth === 1 ? OTHER_KEY : section, p);
        if (depth === open.length) growOpen();
        open[depth] = kind;
        kind = c === 123 ? OBJECT : ARRAY;
        depth += 1;
        first = true;
        p += 1;
        continue;
      }
      if (key === OTHER_KEY) p = c === 34 ? skipString(slab, p + 1) : skipScalar(bytes, p);
      else if (depth === 1) p = readField(slab, p, key, found);
      else p = readSession(slab, p, section === PARAMS_KEY ? found.paramsSession : found.resultSession);
      if (p < 0) return false;
    }
    // Behind a value, or at the end of an empty container.
    for (c = bytes[p]!; c !== 44; c = bytes[p]!) {
      if (c === 32 || c === 9 || c === 13) {
        p += 1;
        continue;
      }
      if (kind === OBJECT ? c !== 125 : c !== 93) return false;
      p += 1;
      depth -= 1;
      if (depth === 0) return skipSpace(bytes, p) === end;
      kind = open[depth]!;
      if (depth === 1 && section === PARAMS_KEY) found.paramsEnd = p;
    }
    first = false;
    p += 1;
  }
}

function skipSpace(bytes: Uint8Array, p: number): number {
  for (let c = bytes[p]!; c === 32 || c === 9 || c === 13; c = bytes[p]!) p += 1;
  return p;
}

/** A key that matters has an object or array for its value: it takes the place of what the same key said before. */
function openField(found: Fields, key: number, section: number, p: number): void {
  if (section === PARAMS_KEY) found.paramsSession.start = -1;
  else if (section === RESULT_KEY) found.resultSession.start = -1;
  else {
    forgetField(found, key);
    if (key === PARAMS_KEY) found.paramsStart = p;
  }
}

/** The value is a scalar. Returns what is behind it, or −1. */
function readField(slab: Slab, p: number, key: number, found: Fields): number {
  switch (key) {
    case ID_KEY:
      return readId(slab, p, found.id);
    case SESSION_KEY:
      return readSession(slab, p, found.session);
    case REQUEST_ID_KEY:
      return readId(slab, p, found.requestId);
    default: {
      forgetField(found, key);
      const end = slab.bytes[p] === 34 ? skipString(slab, p + 1) : skipScalar(slab.bytes, p);
      if (slab.bytes[p] === 34) noteString(found, key, p, end);
      return end;
    }
  }
}

function noteString(found: Fields, key: number, start: number, end: number): void {
  if (key === METHOD_KEY) {
    found.methodStart = start;
    found.methodEnd = end;
  } else if (key === POOL_KEY && end > start + 2) {
    found.poolStart = start;
    found.poolEnd = end;
  }
}

/** Of two equal keys the last one counts, also when its value is one that we cannot use. */
function forgetField(found: Fields, key: number): void {
  switch (key) {
    case ID_KEY:
      found.id.start = -1;
      return;
    case SESSION_KEY:
      found.session.start = -1;
      return;
    case REQUEST_ID_KEY:
      found.requestId.start = -1;
      return;
    case METHOD_KEY:
      found.methodStart = -1;
      return;
    case POOL_KEY:
      found.poolStart = -1;
      return;
    case PARAMS_KEY:
      found.paramsStart = -1;
      found.paramsSession.start = -1;
      return;
    case RESULT_KEY:
      found.hasResult = true;
      found.resultSession.start = -1;
      return;
    default:
      found.hasError = true;
  }
}

function noteSessionKey(found: Fields, keyStart: number): void {
  found.sessionTwice = found.sessionKeyStart >= 0;
  found.sessionKeyStart = keyStart;
}

function growOpen(): void {
  const larger = new Uint8Array(open.length * 2);
  larger.set(open);
  open = larger;
}
