// The token of a request, and whether it is the right one.

import { createHash, timingSafeEqual } from 'node:crypto';
import { LocalError } from '../base/errors.js';

/** A token has to fit into a header together with everything else. */
export const MAX_TOKEN_CHARS = 4096;

/** What can stand in a header as one word. */
const TOKEN = /^[\x21-\x7e]+$/;
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

export function isToken(text: string): boolean {
  return text.length <= MAX_TOKEN_CHARS && TOKEN.test(text);
}

/** `token`, which stands in `where`, or a LocalError that says what a token is. */
export function checkToken(where: string, token: string): string {
  if (isToken(token)) return token;
  const why = 'has to be one word of printable ASCII characters';
  throw new LocalError('bad_token', `the token of ${where} ${why}, ${MAX_TOKEN_CHARS} at most`);
}

/** The token of `Authorization: Bearer …`; undefined when the header is absent or of another kind. */
export function readBearer(header: string | undefined): string | undefined {
  if (header === undefined || header.length > MAX_TOKEN_CHARS + 64) return undefined;
  return BEARER.exec(header)?.[1];
}

/** By their digests, which are of one length: how long it takes tells nothing of either. */
export function isSameToken(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
