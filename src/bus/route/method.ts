// The method of a message as text. It may be written with escapes: there are libraries that write every slash so.

import type { Slab } from '../flow/slab.js';
import type { Fields } from '../scan/fields.js';

const BACKSLASH = 92;

/** Empty when it has none. */
export function methodOf(fields: Fields, { bytes }: Slab): string {
  const { methodStart: start, methodEnd: end } = fields;
  if (start < 0) return '';
  const token = bytes.toString('utf8', start, end);
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
}

/** Its bytes are not the ones to compare. */
export function isEscaped({ methodStart, methodEnd }: Fields, { bytes }: Slab): boolean {
  for (let p = methodStart + 1; p < methodEnd; p += 1) if (bytes[p] === BACKSLASH) return true;
  return false;
}
