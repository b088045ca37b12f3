// Braces in a pattern, written out: `{a,b}/*.{js,ts}` becomes four patterns, `{1..3}` three.

import { InvalidPatternError } from './errors.js';

/** Patterns one pattern may stand for. Without a cap, ten pairs of braces are a thousand and thirty a billion. */
export const MAX_PATTERN_BRANCHES = 1000;

export function expandBraces(pattern: string): string[] {
  return expand(pattern, pattern);
}

function expand(text: string, whole: string): string[] {
  const brace = findBrace(text);
  if (brace === undefined) return [text];
  const head = text.slice(0, brace.open);
  const tails = expand(text.slice(brace.close + 1), whole);
  const middles = brace.choices.flatMap((choice) => expand(choice, whole));
  if (middles.length * tails.length > MAX_PATTERN_BRANCHES) {
    throw new InvalidPatternError(whole, `stands for more than ${MAX_PATTERN_BRANCHES} patterns`);
  }
  return middles.flatMap((middle) => tails.map((tail) => head + middle + tail));
}

interface Brace {
  readonly open: number;
  readonly close: number;
  readonly choices: readonly string[];
}

/** The first brace that offers a choice; `{}`, `{one}` and one without its partner are plain characters. */
function findBrace(text: string): Brace | undefined {
  const open: { at: number; commas: number[] }[] = [];
  let found: Brace | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at += 1;
    else if (char === '{') open.push({ at, commas: [] });
    else if (char === ',') open.at(-1)?.commas.push(at);
    else if (char === '}') {
      const last = open.pop();
      if (last === undefined) continue;
      const choices = choicesOf(text, last, at);
      // An outer brace closes later and begins earlier, so it takes the place of the inner ones found before it.
      if (choices !== undefined && (found === undefined || last.at < found.open)) {
        found = { open: last.at, close: at, choices };
      }
      if (found !== undefined && open.length === 0) return found;
    }
  }
  return found;
}

function choicesOf(
  text: string,
  brace: { at: number; commas: readonly number[] },
  close: number,
): string[] | undefined {
  if (brace.commas.length === 0) return rangeOf(text.slice(brace.at + 1, close));
  const cuts = [brace.at, ...brace.commas, close];
  return cuts.slice(1).map((cut, i) => text.slice((cuts[i] ?? 0) + 1, cut));
}

/** `1..3`, `03..11` (padded alike), `a..e`. */
function rangeOf(inner: string): string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(inner);
  if (numbers !== null) {
    const [, from = '', to = ''] = numbers;
    const padded = [from, to].some((text) => /^-?0\d/.test(text));
    const width = padded ? Math.max(from.length, to.length) : 0;
    return countUp(Number(from), Number(to), inner).map((value) => pad(value, width));
  }
  const letters = /^([a-zA-Z])\.\.([a-zA-Z])$/.exec(inner);
  if (letters === null) return undefined;
  const [, from = '', to = ''] = letters;
  return countUp(from.charCodeAt(0), to.charCodeAt(0), inner).map((code) => String.fromCharCode(code));
}

function countUp(from: number, to: number, inner: string): number[] {
  const length = Math.abs(to - from) + 1;
  if (length > MAX_PATTERN_BRANCHES) {
    throw new InvalidPatternError(inner, `stands for more than ${MAX_PATTERN_BRANCHES} patterns`);
  }
  return Array.from({ length }, (_, i) => from + i * Math.sign(to - from));
}

function pad(value: number, width: number): string {
  const digits = String(Math.abs(value)).padStart(width - (value < 0 ? 1 : 0), '0');
  return value < 0 ? `-${digits}` : digits;
}
