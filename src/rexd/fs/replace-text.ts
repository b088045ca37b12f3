// Replacing a text in a file's bytes: exactly, and only where it is clear what is meant.

import { invalidParam } from '../errors.js';

export interface Replacement {
  readonly content: Buffer;
  readonly replacements: number;
}

/** By bytes, so that a file in any encoding keeps what was not meant. `$&` and its like have no meaning here. */
export function replaceText(content: Buffer, oldText: string, newText: string, all: boolean): Replacement {
  if (oldText === newText) throw invalidParam('new_string', 'is identical to old_string');
  const [wanted, instead] = [Buffer.from(oldText), Buffer.from(newText)];
  const places = findAll(content, wanted, all ? Number.POSITIVE_INFINITY : 2);
  if (places.length === 0) throw invalidParam('old_string', 'not found in the file');
  if (places.length > 1 && !all) {
    throw invalidParam('old_string', 'matched multiple locations; make it longer or set replace_all=true');
  }
  const parts: Buffer[] = [];
  let from = 0;
  for (const at of places) {
    parts.push(content.subarray(from, at), instead);
    from = at + wanted.length;
  }
  return { content: Buffer.concat([...parts, content.subarray(from)]), replacements: places.length };
}

function findAll(content: Buffer, wanted: Buffer, most: number): number[] {
  const places: number[] = [];
  for (
    let at = content.indexOf(wanted);
    at !== -1 && places.length < most;
    at = content.indexOf(wanted, at + wanted.length)
  ) {
    places.push(at);
  }
  return places;
}
