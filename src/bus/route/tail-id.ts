// The id of an answer of which only the end was kept: many libraries write it last.

import { canonicalToken } from '../scan/tokens.js';

/** As the last member of the outermost object, and nowhere else. */
const LAST_ID = /,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)\s*\}\s*$/;

export function findTailId(tail: Buffer): Buffer | undefined {
  const token = LAST_ID.exec(tail.toString('latin1'))?.[1];
  if (token === undefined) return undefined;
  const bytes = Buffer.from(token, 'latin1');
  try {
    return canonicalToken(bytes, 0, bytes.length);
  } catch {
    return undefined;
  }
}
