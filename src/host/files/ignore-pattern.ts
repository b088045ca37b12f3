// One pattern of a .gitignore file against one path: `*`, `?`, `[classes]`, `\`, and `**` between slashes.
//
// Not a regular expression: the file may be anybody's, and `*a*a*a*b` can take a backtracking engine for ever. Only the
// last star and the last `**` are worth coming back to, so the time is bounded by the lengths.

const SLASH = 0x2f;
/** No class has a name as long as this, with what is around it. */
const MAX_NAMED_CHARS = 64;

/** `globstar` is `**` with the slash behind it: no directories at all, or any number of them. `rest` is `**` at the end. */
type Token = number | 'any' | 'star' | 'globstar' | 'rest' | ByteClass;
/** For each byte whether it is in the class: small, since a file may be nothing but classes. */
type ByteClass = Uint8Array;

/** Steps of matching that may still be taken. Below zero nothing fits any more, and it is not known what would have. */
export interface Effort {
  left: number;
}

export interface IgnorePattern {
  /** The one text it matches, if it has no wildcard. */
  readonly plain: string | undefined;
  matches(path: string, effort: Effort): boolean;
}

/** `isPath`: stars stop at slashes, and `**` means any number of names. Undefined for what matches nothing at all: a class that does not close, a backslash before nothing. */
export function parsePattern(text: string, isPath: boolean): IgnorePattern | undefined {
  if (!/[*?[\\]/.test(text)) return { plain: text, matches: (path) => path === text };
  const ending = /^\*([^*?[\\/]+)$/.exec(text)?.[1];
  if (ending !== undefined) {
    return { plain: undefined, matches: (path) => path.endsWith(ending) && !hasSlashBefore(path, ending) };
  }
  const tokens = tokenize(text, isPath);
  if (tokens === undefined) return undefined;
  if (tokens.every((token) => typeof token === 'number')) {
    const plain = String.fromCharCode(...tokens);
    return { plain, matches: (path) => path === plain };
  }
  return { plain: undefined, matches: (path, effort) => fits(tokens, path, effort) };
}

function hasSlashBefore(path: string, ending: string): boolean {
  const slash = path.indexOf('/');
  return slash !== -1 && slash < path.length - ending.length;
}

function tokenize(text: string, isPath: boolean): Token[] | undefined {
  const tokens: Token[] = [];
  const firstMagic = text.search(/[*?[\\]/);
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '*') {
      let stars = 1;
      while (text[at + stars] === '*') stars += 1;
      const after = text[at + stars];
      // At the front, after a slash; and, since git compares a plain beginning by itself, after one of those too.
      const opens = text[at - 1] === '/' || at === firstMagic;
      if (isPath && stars > 1 && opens && (after === undefined || after === '/')) {
        tokens.push(after === undefined ? 'rest' : 'globstar');
        at += after === undefined ? stars - 1 : stars;
      } else {
        tokens.push('star');
        at += stars - 1;
      }
    } else if (char === '?') {
      tokens.push('any');
    } else if (char === '\\') {
      at += 1;
      if (at === text.length) return undefined;
      tokens.push(text.charCodeAt(at));
    } else if (char === '[') {
      const found = readClass(text, at);
      if (found === undefined) return undefined;
      tokens.push(found.bytes);
      at = found.end;
    } else tokens.push(text.charCodeAt(at));
  }
  return tokens;
}

/** `[a-z]`, `[!a]`, `[^a]`, `[]x]`, `[[:digit:]]`; never a slash, whatever it says. */
function readClass(text: string, open: number): { bytes: ByteClass; end: number } | undefined {
  const bytes = new Uint8Array(256);
  let at = open + 1;
  const isNegated = text[at] === '!' || text[at] === '^';
  if (isNegated) at += 1;
  for (const first = at; at < text.length; at++) {
    if (text[at] === ']' && at > first) {
      if (isNegated) for (let byte = 0; byte < 256; byte++) bytes[byte] = 1 - (bytes[byte] ?? 0);
      bytes[SLASH] = 0;
      return { bytes, end: at };
    }
    const named =
      text[at] === '[' ? /^\[:([^\]]*):\]/.exec(text.slice(at, at + MAX_NAMED_CHARS))?.[1] : undefined;
    if (named !== undefined) {
      const test = NAMED_CLASSES[named];
      if (test === undefined) return undefined;
      for (let byte = 0; byte < 256; byte++) if (test.test(String.fromCharCode(byte))) bytes[byte] = 1;
      at += named.length + 3;
      continue;
    }
    if (text[at] === '\\') at += 1;
    const low = text.charCodeAt(at);
    let high = low;
    if (text[at + 1] === '-' && text[at + 2] !== ']' && at + 2 < text.length) {
      at += text[at + 2] === '\\' ? 3 : 2;
      high = text.charCodeAt(at);
    }
    for (let byte = low; byte <= high; byte++) bytes[byte] = 1;
  }
  return undefined;
}

const NAMED_CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[a-zA-Z0-9]/,
  alpha: /[a-zA-Z]/,
  blank: /[ \t]/,
  cntrl: /[^ -~\u0080-\u00FF]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t-\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9a-fA-F]/,
};

interface Mark {
  readonly token: number;
  at: number;
}

function fits(tokens: readonly Token[], path: string, effort: Effort): boolean {
  let [token, at] = [0, 0];
  let star: Mark | undefined;
  let globstar: Mark | undefined;
  for (;;) {
    effort.left -= 1;
    if (effort.left < 0) return false;
    const wanted = tokens[token];
    if (wanted === 'rest') return true;
    if (wanted === 'globstar') {
      token += 1;
      globstar = { token, at };
      star = undefined;
    } else if (wanted === 'star') {
      token += 1;
      star = { token, at };
    } else if (
      wanted === undefined ? at === path.length : at < path.length && fitsByte(wanted, path.charCodeAt(at))
    ) {
      if (wanted === undefined) return true;
      token += 1;
      at += 1;
    } else if (star !== undefined && star.at < path.length && path.charCodeAt(star.at) !== SLASH) {
      star.at += 1;
      ({ token, at } = star);
    } else {
      const slash = globstar === undefined ? -1 : path.indexOf('/', globstar.at);
      if (globstar === undefined || slash === -1) return false;
      globstar.at = slash + 1;
      ({ token, at } = globstar);
      star = undefined;
    }
  }
}

function fitsByte(wanted: Exclude<Token, string> | 'any', byte: number): boolean {
  if (wanted === 'any') return byte !== SLASH;
  return typeof wanted === 'number' ? wanted === byte : wanted[byte] === 1;
}
