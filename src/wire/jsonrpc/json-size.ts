// Whether JSON text is worth parsing: a line of brackets costs seconds and many times its size in memory.

import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-chars.js';
import { skipString } from './raw-json.js';

/** Arrays and objects within each other. What people and programs write stays below twenty. */
export const MAX_JSON_DEPTH = 256;
/**
 * Values of one line, counted by the commas and brackets before them. Each takes up to a hundred bytes once it is
 * parsed; the longest answer there is, a list of 100,000 files, has 600,000.
 */
export const MAX_JSON_VALUES = 1_000_000;

/** Why `text` is not to be parsed, in words for the one who sent it. It need not be JSON: that is found out later. */
export function tooMuchJson(
  text: string,
  maxDepth: number = MAX_JSON_DEPTH,
  maxValues: number = MAX_JSON_VALUES,
): string | undefined {
  if (text.length <= maxValues && !mayBeDeep(text, maxDepth)) return undefined;
  let depth = 0;
  let values = 0;
  let i = 0;
  while (i < text.length) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      i = skipString(text, i);
      continue;
    }
    i += 1;
    if (char < COMMA) continue;
    if (char === COMMA) values += 1;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) return `a message must not be nested deeper than ${maxDepth} levels`;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth -= 1;
    else continue;
    if (values > maxValues) return `a message must not have more than ${maxValues} values`;
  }
  return undefined;
}

/** Quick, and mostly enough: what opens has to close, so a short line cannot be deep, nor one with few brackets. */
function mayBeDeep(text: string, maxDepth: number): boolean {
  if (text.length <= 2 * maxDepth) return false;
  return count(text, '[', maxDepth) + count(text, '{', maxDepth) > maxDepth;
}

/** How often `char` is there; no further than `max` and one. */
function count(text: string, char: string, max: number): number {
  let found = 0;
  for (let at = text.indexOf(char); at !== -1 && found <= max; at = text.indexOf(char, at + 1)) found += 1;
  return found;
}
