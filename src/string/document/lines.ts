// The lines of a Markdown text, to the character: where each begins and ends, and what is code, comment or frontmatter.

export interface ScannedLine {
  readonly start: number;
  /** Without the line end. */
  readonly end: number;
  /** Where the next line begins. */
  readonly next: number;
  readonly fence: 'open' | 'inside' | 'close' | undefined;
  /** What an opener says about its content: `js` of ` ```js `. */
  readonly info: string | undefined;
  readonly frontmatter: boolean;
  /** In a comment that is longer than its line. */
  readonly comment: boolean;
}

interface Fence {
  readonly char: number;
  readonly length: number;
  /** The column of the list item that it stands in. */
  readonly column: number;
}

interface Scan {
  fence: Fence | undefined;
  comment: boolean;
  /** The columns at which the content of the list items around this line begins, outermost first. */
  readonly items: number[];
  /** The line before was plain text: plain text that follows belongs to it, also further to the left. */
  paragraph: boolean;
}

const BACKTICK = 0x60;
const TILDE = 0x7e;
const MAX_INDENT = 3;
const TAB_COLUMNS = 4;
const STRUCTURE = new Set(Buffer.from('`~#><=_|'));
const LIST_MARKER = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/u;

/** A line ends with `\n` or `\r\n`; what follows the last end is a line only when it is not empty. */
export function scanLines(text: string): readonly ScannedLine[] {
  const lines: ScannedLine[] = [];
  const scan: Scan = { fence: undefined, comment: false, items: [], paragraph: false };
  const body = endOfFrontmatter(text);
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const next = feed === -1 ? text.length : feed + 1;
    const end = feed === -1 ? next : feed > start && text[feed - 1] === '\r' ? feed - 1 : feed;
    const frontmatter = start < body;
    const { fence, info, comment } = frontmatter ? PLAIN : classify(text, start, end, scan);
    lines.push({ start, end, next, fence, info, frontmatter, comment });
    start = next;
  }
  return lines;
}

type What = Pick<ScannedLine, 'fence' | 'info' | 'comment'>;
const PLAIN: What = { fence: undefined, info: undefined, comment: false };
const COMMENT: What = { fence: undefined, info: undefined, comment: true };
const INSIDE: What = { fence: 'inside', info: undefined, comment: false };
const CLOSE: What = { fence: 'close', info: undefined, comment: false };

function classify(text: string, start: number, end: number, scan: Scan): What {
  if (scan.comment) {
    scan.comment = !text.slice(start, end).includes('-->');
    return COMMENT;
  }
  // Nearly every line of nearly every document: plain text that goes on, or begins, outside of all else.
  if (
    scan.fence === undefined &&
    scan.items.length === 0 &&
    start < end &&
    isLetter(text.charCodeAt(start))
  ) {
    scan.paragraph = true;
    return PLAIN;
  }
  let { at, column } = skipBlanks(text, start, end, 0);
  const { paragraph } = scan;
  scan.paragraph = false;
  if (scan.fence !== undefined) {
    // A list item that ends takes its fence with it.
    if (at === end || column >= scan.fence.column) {
      if (!closes(text, at, end, column, scan.fence)) return INSIDE;
      scan.fence = undefined;
      return CLOSE;
    }
    scan.fence = undefined;
  }
  if (at === end) return PLAIN;
  scan.paragraph = paragraph && isPlain(text.charCodeAt(at));
  if (scan.paragraph) return PLAIN;
  while (scan.items.length > 0 && column < (scan.items.at(-1) ?? 0)) scan.items.pop();
  for (;;) {
    const base = scan.items.at(-1) ?? 0;
    if (column - base > MAX_INDENT) return PLAIN;
    const char = text.charCodeAt(at);
    if (char === BACKTICK || char === TILDE) return open(text, at, end, base, scan);
    const marker = mayBeMarker(char)
      ? LIST_MARKER.exec(text.slice(at, Math.min(end, at + 11)))?.[0]
      : undefined;
    if (marker === undefined) break;
    const afterMarker = column + marker.length;
    const content = skipBlanks(text, at + marker.length, end, afterMarker);
    // Far to the right is code inside of the item, and an item may begin with nothing.
    const near = content.at < end && content.column - afterMarker <= MAX_INDENT + 1;
    scan.items.push(near ? content.column : afterMarker + 1);
    if (content.at === end) return PLAIN;
    ({ at, column } = content);
  }
  if (text.startsWith('<!--', at) && !text.slice(at + '<!--'.length, end).includes('-->')) {
    scan.comment = true;
    return COMMENT;
  }
  scan.paragraph = isPlain(text.charCodeAt(at));
  return PLAIN;
}

function open(text: string, at: number, end: number, column: number, scan: Scan): What {
  const char = text.charCodeAt(at);
  const length = runLength(text, at, end);
  const info = text.slice(at + length, end).trim();
  if (length < 3 || (char === BACKTICK && info.includes('`'))) return PLAIN;
  scan.fence = { char, length, column };
  return { fence: 'open', info, comment: false };
}

function closes(text: string, at: number, end: number, column: number, fence: Fence): boolean {
  if (at === end || text.charCodeAt(at) !== fence.char || column - fence.column > MAX_INDENT) return false;
  const length = runLength(text, at, end);
  return length >= fence.length && text.slice(at + length, end).trim() === '';
}

function runLength(text: string, at: number, end: number): number {
  const char = text.charCodeAt(at);
  let stop = at + 1;
  while (stop < end && text.charCodeAt(stop) === char) stop += 1;
  return stop - at;
}

function skipBlanks(
  text: string,
  from: number,
  end: number,
  fromColumn: number,
): { at: number; column: number } {
  let at = from;
  let column = fromColumn;
  for (; at < end; at++) {
    const char = text[at];
    if (char === ' ') column += 1;
    else if (char === '\t') column += TAB_COLUMNS - (column % TAB_COLUMNS);
    else break;
  }
  return { at, column };
}

function isLetter(char: number): boolean {
  return (char >= 0x61 && char <= 0x7a) || (char >= 0x41 && char <= 0x5a);
}

/** It begins no heading, quote, HTML, rule or fence, and no list item. */
function isPlain(char: number): boolean {
  return !mayBeMarker(char) && !STRUCTURE.has(char);
}

/** `-`, `+`, `*` or a digit. */
function mayBeMarker(char: number): boolean {
  return char === 0x2d || char === 0x2b || char === 0x2a || (char >= 0x30 && char <= 0x39);
}

/** Where the text begins behind `---`, YAML, `---`; 0 when there is none, or when it is never closed. */
function endOfFrontmatter(text: string): number {
  const first = /^\uFEFF?---[ \t]*\r?\n/u.exec(text);
  if (first === null) return 0;
  for (let start = first[0].length; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const next = feed === -1 ? text.length : feed + 1;
    if (text.startsWith('---', start) && text.slice(start + 3, next).trim() === '') return next;
    start = next;
  }
  return 0;
}
