// Finding where a value lies in JSON text that is known to be valid, so that it can be kept exactly as written.

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-chars.js';

/** How most programs begin a message: spares the search. */
const USUAL_START = '{"jsonrpc":"2.0","id":';

const PLAIN_ID = /^[\w.:-]{0,128}$/;

/** How much of a string is looked at by hand before the rest is searched through. */
const WALKED_CHARS = 48;

/**
 * The text of the value of `key` in the object `text`; of equal keys the last, as JSON.parse has it. Only the
 * object's own keys count, whatever is nested in it, and a key may be written with escapes.
 */
export function readRawMember(text: string, key: string): string | undefined {
  let found: string | undefined;
  let at = skipSpace(text, text.indexOf('{') + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(text, at);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1); // past the colon
    const end = skipValue(text, start);
    if (isKey(text.slice(at, keyEnd), key)) found = text.slice(start, end);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return found;
}

/** The text of each element of the array `text`. */
export function splitRawArray(text: string): string[] {
  const elements: string[] = [];
  let at = skipSpace(text, text.indexOf('[') + 1);
  while (at < text.length && text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at);
    elements.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return elements;
}

/**
 * `readRawMember` for a key that is known to be there and has no escapes when written plainly, with two short cuts. At
 * the usual place in the usual spelling, with the `value` that parsing has found, it is told without looking further:
 * only an equal id could follow. And text in which the key occurs once, and no escape could spell it, need not be
 * walked through.
 */
export function readRawId(text: string, value?: unknown): string {
  if (text.startsWith(USUAL_START)) {
    const usual = usualSpelling(value);
    if (usual !== undefined && text.startsWith(usual, USUAL_START.length)) {
      const next = text.charCodeAt(USUAL_START.length + usual.length);
      if (next === COMMA || next === CLOSE_BRACE) return usual;
    }
  }
  const at = text.startsWith(USUAL_START) ? USUAL_START.length - 5 : text.indexOf('"id"');
  if (at !== -1 && text.indexOf('"id"', at + 4) === -1 && !mayEscapeId(text)) {
    const start = skipSpace(text, skipSpace(text, at + 4) + 1);
    return text.slice(start, skipValue(text, start));
  }
  return readRawMember(text, 'id') ?? 'null';
}

/** As nearly every program writes it; undefined for what may be written in several ways, or is seldom an id. */
function usualSpelling(value: unknown): string | undefined {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return String(value);
  return typeof value === 'string' && PLAIN_ID.test(value) ? `"${value}"` : undefined;
}

/** `\u0069` is i and `\u0064` is d: without such an escape somewhere, an id key is written "id". */
function mayEscapeId(text: string): boolean {
  return text.includes('\\') && text.includes('\\u006'); // one character is found much faster than six
}

function isKey(token: string, key: string): boolean {
  if (token.includes('\\')) return JSON.parse(token) === key;
  return token.length === key.length + 2 && token.startsWith(key, 1);
}

/** The index behind the value that begins at `at`. No recursion: nesting is as deep as the sender likes. */
function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === QUOTE) return skipString(text, at);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(text, at);
  let depth = 0;
  let i = at;
  while (i < text.length) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      i = skipString(text, i);
      continue;
    }
    i += 1;
    if (char === OPEN_BRACE || char === OPEN_BRACKET) depth += 1;
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  return i;
}

/** The index behind the string whose opening quote is at `at`; the end of the text when it has no closing one. */
export function skipString(text: string, at: number): number {
  let i = at + 1;
  // Most strings are short, and walking through one is faster than a search that has to be set up.
  for (const far = i + WALKED_CHARS; i < far; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) return i + 1;
    if (char === BACKSLASH) i += 1;
    else if (char !== char) return text.length; // NaN: past the end
  }
  for (;;) {
    const quote = text.indexOf('"', i);
    if (quote === -1) return text.length;
    let before = quote - 1;
    while (before >= i && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1; // an even number of backslashes: they escape each other
    i = quote + 1;
  }
}

function skipScalar(text: string, at: number): number {
  let i = at;
  while (i < text.length) {
    const char = text.charCodeAt(i);
    if (char === COMMA || char === CLOSE_BRACE || char === CLOSE_BRACKET || isSpace(char)) break;
    i += 1;
  }
  return i;
}

function skipSpace(text: string, at: number): number {
  let i = at;
  while (isSpace(text.charCodeAt(i))) i += 1;
  return i;
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
}
