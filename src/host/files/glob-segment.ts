// One name of a pattern against one file name: `*`, `?`, `[classes]`, `\` for a plain character.
//
// Not a regular expression: those a pattern turns into (`*a*a*a*b`) can take a backtracking engine for ever, and
// patterns come from outside. Between stars everything has a fixed length, so the leftmost fit is as good as any, and
// the time is at most name times pattern.

export interface SegmentOptions {
  /** `*`, `?` and classes also match a dot at the beginning of a name. */
  readonly dot: boolean;
}

export type Segment =
  | { readonly kind: 'globstar' }
  | { readonly kind: 'literal'; readonly name: string }
  | { readonly kind: 'match'; readonly test: (name: string) => boolean; readonly isSlow: boolean };

/** One character of a name: itself, or a test. */
type Unit = string | ((char: string) => boolean);

export function compileSegment(text: string, options: SegmentOptions): Segment {
  if (text === '**') return { kind: 'globstar' };
  const pieces = parse(text);
  const plain = pieces.map(joinPlain);
  const [only] = plain;
  if (plain.length === 1 && only !== undefined) return { kind: 'literal', name: only };
  const hidden = options.dot || pieces[0]?.[0] === '.';
  const isSlow = !isText(plain);
  const fits = isText(plain)
    ? (name: string) => fitText(name, plain)
    : (name: string) => fitUnits(Array.from(name), pieces);
  return { kind: 'match', test: (name) => (hidden || !name.startsWith('.')) && fits(name), isSlow };
}

function isText(pieces: readonly (string | undefined)[]): pieces is readonly string[] {
  return !pieces.includes(undefined);
}

/** The text between the stars, as units: `a*b?` is [[a], [b, any]]. */
function parse(text: string): Unit[][] {
  const chars = Array.from(text);
  const pieces: Unit[][] = [[]];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? '';
    const piece = pieces.at(-1) ?? [];
    if (char === '*') {
      if (piece.length > 0 || pieces.length === 1) pieces.push([]); // `**` inside a name is one star
    } else if (char === '?') {
      piece.push(() => true);
    } else if (char === '\\' && at + 1 < chars.length) {
      at += 1;
      piece.push(chars[at] ?? '');
    } else {
      const set = char === '[' ? parseClass(chars, at) : undefined;
      piece.push(set === undefined ? char : set.test);
      at = set?.end ?? at;
    }
  }
  return pieces;
}

/** `[a-z]`, `[!a]`, `[^a]`, `[]x]`, `[[:digit:]]`. Undefined if it does not close: then `[` is a plain character. */
function parseClass(
  chars: readonly string[],
  open: number,
): { test: (char: string) => boolean; end: number } | undefined {
  let at = open + 1;
  const negated = chars[at] === '!' || chars[at] === '^';
  if (negated) at += 1;
  const first = at;
  const tests: ((char: string) => boolean)[] = [];
  for (; at < chars.length; at++) {
    if (chars[at] === ']' && at > first) {
      return { test: (char) => tests.some((test) => test(char)) !== negated, end: at };
    }
    const named = /^\[:([a-z]+):\]/.exec(chars.slice(at, at + 12).join(''));
    const posix = named === null ? undefined : POSIX_CLASSES[named[1] ?? ''];
    if (named !== null && posix !== undefined) {
      tests.push((char) => posix.test(char));
      at += named[0].length - 1;
      continue;
    }
    if (chars[at] === '\\' && at + 1 < chars.length) at += 1;
    const low = chars[at] ?? '';
    let high = low;
    if (chars[at + 1] === '-' && chars[at + 2] !== undefined && chars[at + 2] !== ']') {
      at += chars[at + 2] === '\\' && chars[at + 3] !== undefined ? 3 : 2;
      high = chars[at] ?? '';
    }
    const [from, to] = [low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0];
    tests.push((char) => {
      const code = char.codePointAt(0) ?? 0;
      return code >= from && code <= to;
    });
  }
  return undefined;
}

const POSIX_CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-zA-Z0-9]/,
  alpha: /[a-zA-Z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  word: /\w/,
  xdigit: /[0-9a-fA-F]/,
};

function joinPlain(piece: readonly Unit[]): string | undefined {
  return piece.every((unit) => typeof unit === 'string') ? piece.join('') : undefined;
}

/** The first piece at the beginning, the last at the end, the others in between from left to right. */
function fitText(name: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (let i = 1; i < pieces.length - 1; i++) {
    const piece = pieces[i] ?? '';
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

function fitUnits(name: readonly string[], pieces: readonly (readonly Unit[])[]): boolean {
  const first = pieces[0] ?? [];
  if (pieces.length === 1) return name.length === first.length && fitsAt(name, 0, first);
  const last = pieces.at(-1) ?? [];
  const end = name.length - last.length;
  if (end < first.length || !fitsAt(name, 0, first) || !fitsAt(name, end, last)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    while (at + piece.length <= end && !fitsAt(name, at, piece)) at += 1;
    if (at + piece.length > end) return false;
    at += piece.length;
  }
  return true;
}

function fitsAt(name: readonly string[], at: number, piece: readonly Unit[]): boolean {
  return piece.every((unit, i) => {
    const char = name[at + i] ?? '';
    return typeof unit === 'string' ? unit === char : unit(char);
  });
}
