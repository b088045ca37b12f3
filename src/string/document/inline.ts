// The links of a piece of Markdown text, to the character; code, escapes and images are none.

/** Of what stands in the brackets of a link; an opening bracket is not searched for its end any further. */
export const MAX_LABEL_CHARS = 1000;
/** Of an address with its title. */
export const MAX_HREF_CHARS = 8192;
/** Brackets within brackets: so that a text of nothing but brackets is read in a time that grows with its length only. */
export const MAX_NESTED = 16;

export interface InlineLink {
  readonly start: number;
  readonly end: number;
  readonly label: string;
  /** `[label](href)`. */
  readonly href?: string;
  /** `[label][ref]`, as it is written; empty for `[label][]`. */
  readonly ref?: string;
}

/**
 * Of the text between `from` and `to`, which has no fences and no blank lines in it: a paragraph, since code may go on
 * in the next line but not behind an empty one. What stands in brackets is a reference only when `isReference` says so.
 */
export function findLinks(
  source: string,
  from: number,
  to: number,
  isReference: (ref: string, label: string) => boolean,
): InlineLink[] {
  // Nothing is searched for behind its end: there may be another hundred thousand paragraphs.
  const text = source.slice(0, to);
  const links: InlineLink[] = [];
  const code = new CodeSpans(text, from, to);
  const special = /[[`\\!<]/gu;
  special.lastIndex = from;
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const at = found.index;
    const char = text[at];
    if (char === '\\') special.lastIndex = at + 2;
    else if (char === '`') special.lastIndex = code.skip(at);
    else if (char === '<') special.lastIndex = skipAngle(text, at, to);
    else if (char === '!') {
      // An image is shown as it is, with all that is in its brackets.
      if (text[at + 1] !== '[') continue;
      const image = readLink(text, at + 1, to, code);
      const isImage = image !== undefined && (image.ref === undefined || isReference(image.ref, image.label));
      special.lastIndex = isImage ? image.end : at + 2;
    } else {
      const link = readLink(text, at, to, code);
      if (link === undefined || (link.ref !== undefined && !isReference(link.ref, link.label))) continue;
      links.push(link);
      special.lastIndex = link.end;
    }
  }
  return links;
}

/** `<https://…>` and tags, whose attributes may look like links. */
function skipAngle(text: string, at: number, to: number): number {
  const inside = /^<(?:[a-z][a-z0-9+.-]*:[^\s<>]*|\/?[a-z][a-z0-9-]*(?:\s[^<>]{0,2000})?\/?)>/iu.exec(
    text.slice(at, Math.min(to, at + 2100)),
  );
  return inside === null ? at + 1 : at + inside[0].length;
}

function readLink(text: string, at: number, to: number, code: CodeSpans): InlineLink | undefined {
  const close = closingBracket(text, at, to, code);
  if (close === undefined) return undefined;
  const label = text.slice(at + 1, close);
  const next = text[close + 1];
  if (next === '(') {
    const target = readTarget(text, close + 2, to);
    return target && { start: at, end: target.end, label, href: target.href };
  }
  if (next !== '[') return undefined;
  const end = text.indexOf(']', close + 2);
  if (end === -1 || end >= to || end - close > MAX_LABEL_CHARS) return undefined;
  return { start: at, end: end + 1, label, ref: text.slice(close + 2, end) };
}

function closingBracket(text: string, at: number, to: number, code: CodeSpans): number | undefined {
  const last = Math.min(to, at + MAX_LABEL_CHARS);
  let depth = 0;
  for (let i = at; i < last; i++) {
    const char = text[i];
    if (char === '\\') i += 1;
    else if (char === '`') i = code.skip(i) - 1;
    else if (char === '[') {
      if (++depth > MAX_NESTED) return undefined;
    } else if (char === ']' && --depth === 0) return i;
  }
  return undefined;
}

const TITLE =
  /^[ \t]*\n?[ \t]*(?:[ \t\n](?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?[ \t]*\n?[ \t]*\)/su;

/** `url)`, `<url> "title")`; undefined for what is no target of a link. */
function readTarget(text: string, from: number, to: number): { href: string; end: number } | undefined {
  const last = Math.min(to, from + MAX_HREF_CHARS);
  let at = from;
  while (at < last && /\s/u.test(text[at] ?? '')) at += 1;
  const start = at;
  if (text[at] === '<') {
    const close = /^<((?:[^<>\\\n]|\\.)*)>/u.exec(text.slice(at, last));
    if (close === null) return undefined;
    return finish(text, at + close[0].length, last, close[1] ?? '');
  }
  let depth = 0;
  for (; at < last; at++) {
    const char = text[at] ?? '';
    if (char === '\\') at += 1;
    else if (char <= ' ' || char === '\u007F') break;
    else if (char === '(') {
      if (++depth > MAX_NESTED) return undefined;
    } else if (char === ')' && --depth < 0) break;
  }
  return depth > 0
    ? undefined
    : finish(text, Math.min(at, last), last, text.slice(start, Math.min(at, last)));
}

function finish(
  text: string,
  at: number,
  last: number,
  raw: string,
): { href: string; end: number } | undefined {
  const rest = at < last && text[at] === ')' ? ')' : TITLE.exec(text.slice(at, last))?.[0];
  return rest === undefined ? undefined : { href: unescape(raw), end: at + rest.length };
}

function unescape(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\([!-/:-@[-`{-~])/gu, '$1') : text;
}

/** Spans of code in one paragraph: a run of backticks and the next run of the same length. */
class CodeSpans {
  readonly #text: string;
  readonly #to: number;
  /** By length of the run: where runs begin. Found out when the first backtick is met. */
  #runs: Map<number, number[]> | undefined;
  readonly #from: number;

  constructor(text: string, from: number, to: number) {
    this.#text = text;
    this.#from = from;
    this.#to = to;
  }

  /** Behind the code that begins at `at`, or behind the run when it is not closed. */
  skip(at: number): number {
    this.#runs ??= this.#findRuns();
    let length = 1;
    while (at + length < this.#to && this.#text[at + length] === '`') length += 1;
    const close = firstAfter(this.#runs.get(length) ?? [], at);
    return close === undefined ? at + length : close + length;
  }

  #findRuns(): Map<number, number[]> {
    const runs = new Map<number, number[]>();
    const run = /`+/gu;
    run.lastIndex = this.#from;
    for (let found = run.exec(this.#text); found !== null; found = run.exec(this.#text)) {
      const length = found[0].length;
      const list = runs.get(length);
      if (list === undefined) runs.set(length, [found.index]);
      else list.push(found.index);
    }
    return runs;
  }
}

function firstAfter(sorted: readonly number[], at: number): number | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) > at) high = middle;
    else low = middle + 1;
  }
  return sorted[low];
}
