// The headings of a Markdown text, and the names under which they can be addressed.

import type { ScannedLine } from './lines.js';

export interface Heading {
  /** Where its first line begins. */
  readonly start: number;
  /** Where the line behind it begins. */
  readonly next: number;
  readonly level: number;
  /** Without an anchor. */
  readonly text: string;
  /** `x` of `{#x}`. */
  readonly anchor: string | undefined;
}

const ATX = /^ {0,3}(#{1,6})(?:[ \t]|$)/u;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/u;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/u;
/** What begins something else than a paragraph: lists, quotes, HTML, code, tables. */
const NO_PARAGRAPH = /^(?: {4}| {0,3}\t| {0,3}(?:>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|<|\|))/u;

export function findHeadings(text: string, lines: readonly ScannedLine[]): Heading[] {
  const headings: Heading[] = [];
  /** Where the paragraph began that the next line may underline. */
  let paragraph: number | undefined;
  for (const line of lines) {
    if (line.fence !== undefined || line.frontmatter || line.comment) {
      paragraph = undefined;
      continue;
    }
    const content = text.slice(line.start, line.end);
    const atx = content.includes('#') ? ATX.exec(content) : null;
    if (atx !== null) {
      const words = withoutClosing(content.slice(atx[0].length).trim());
      headings.push(describe(line.start, line.next, atx[1]?.length ?? 1, words));
      paragraph = undefined;
    } else if (paragraph !== undefined && UNDERLINE.test(content)) {
      const level = content.includes('=') ? 1 : 2;
      headings.push(describe(paragraph, line.next, level, text.slice(paragraph, line.start).trim()));
      paragraph = undefined;
    } else if (content.trim() === '' || RULE.test(content)) paragraph = undefined;
    else if (paragraph === undefined) paragraph = NO_PARAGRAPH.test(content) ? undefined : line.start;
    else if (/^ {0,3}[>|<]/u.test(content)) paragraph = undefined;
  }
  return headings;
}

/** Lower case, only letters, digits, `_`, `-` and blanks, which become `-`. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}_\s-]/gu, '')
    .trim()
    .replaceAll(/\s+/gu, '-');
}

/** `## Title ##` is `Title`. */
function withoutClosing(content: string): string {
  let end = content.length;
  while (content[end - 1] === '#') end -= 1;
  if (end === content.length || (end > 0 && !/[ \t]/u.test(content.charAt(end - 1)))) return content;
  return content.slice(0, end).trimEnd();
}

/** `Title {#id}` or `Title []{#id}`. */
function describe(start: number, next: number, level: number, content: string): Heading {
  const at = content.endsWith('}') ? content.lastIndexOf('{#') : -1;
  const anchor = at === -1 ? '' : content.slice(at + 2, -1);
  if (!/^[^\s{}]+$/u.test(anchor)) return { start, next, level, text: content, anchor: undefined };
  const before = content.slice(0, at);
  const text = (before.endsWith('[]') ? before.slice(0, -2) : before).trimEnd();
  return { start, next, level, text, anchor };
}
