// A page of HTML as Markdown: what there is to read of it, without what is around it.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { writeEndTags } from './html-end-tags.js';
import { cutHtml, textPart } from './html-pieces.js';

/** The library takes the square of what it is given; of a larger piece only the text is taken. */
export const MAX_HTML_PIECE_CHARS = 64 * 1024;
/** Of the processor, for one page: what is left then is read by its text only. A busy machine changes nothing of a page. */
export const MAX_HTML_MS = 3000;
/** A number of which the library would ask from every digit on whether it numbers a list. */
const DIGITS = /\d{1000}/u;
/** Elements within elements; deeper ones are no text that anybody wrote. */
export const MAX_HTML_DEPTH = 200;

/** Piece by piece, with room for others in between: a page of the web must not hold up the daemon. */
export async function htmlToMarkdown(html: string): Promise<string> {
  // Loaded when the first page of HTML comes: most daemons never see one.
  const { NodeHtmlMarkdown } = (await import('node-html-markdown')).default;
  const converter = new NodeHtmlMarkdown({
    maxConsecutiveNewlines: 2,
    bulletMarker: '-',
    useInlineLinks: false,
  });
  const parts: string[] = [];
  let spentMs = 0;
  for (const piece of cutHtml(writeEndTags(textPart(html)))) {
    const isPlain =
      piece.text.length <= MAX_HTML_PIECE_CHARS && piece.depth <= MAX_HTML_DEPTH && !DIGITS.test(piece.text);
    const start = process.cpuUsage();
    const text = isPlain && spentMs < MAX_HTML_MS ? converter.translate(piece.text) : stripTags(piece.text);
    const { user, system } = process.cpuUsage(start);
    spentMs += (user + system) / 1000;
    if (text.trim() !== '') parts.push(text.trim());
    await nextTurn();
  }
  return `${parts.join('\n\n').replaceAll(/\n{3,}/gu, '\n\n')}\n`;
}

/** Of the head, for pages that are known by it. */
export function titleOfHtml(html: string): string | undefined {
  const found = /<title(?:\s[^>]{0,500})?>([^<]{1,500})<\/title>/iu.exec(html)?.[1]?.trim();
  return found === '' ? undefined : found?.replaceAll(/\s+/gu, ' ');
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  nbsp: ' ',
  '#39': "'",
};

function stripTags(html: string): string {
  return html
    .replaceAll(/<\/?(?:p|div|li|ul|ol|tr|h[1-6]|br|table|section|pre|blockquote)(?:\s[^<>]*)?\/?>/giu, '\n')
    .replaceAll(/<\/?[a-z][^<>]*>/giu, '')
    .replaceAll(/&(#39|[a-z]+);/giu, (all, name: string) => ENTITIES[name.toLowerCase()] ?? all)
    .replaceAll(/[ \t]+/gu, ' ')
    .replaceAll(/ ?\n ?/gu, '\n');
}
