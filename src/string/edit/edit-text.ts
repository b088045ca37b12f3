// Edits of a text: a block, some lines, a piece of it. All else stays as it is, to the character.

import { type Block, findBlock, listBlocks } from '../document/blocks.js';
import { type Failure, fail } from '../result.js';
import { countBreaks } from './line-diff.js';

/** Places shown of a text that is there more than once. */
export const MAX_SHOWN_MATCHES = 5;
const MATCH_CHARS = 80;

/** From 1, both included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export type Edited =
  | {
      readonly ok: true;
      readonly text: string;
      readonly count: number;
      /** Lines of the new text beyond which nothing needs to be shown: a block is its own surroundings. */
      readonly within?: LineRange;
    }
  | Failure;

/** The blank lines at both ends of the block stay, and the heading, and the markers. */
export function editBlock(
  text: string,
  options: { id: string; body: string; file: string; append?: boolean },
): Edited {
  const { id, file } = options;
  const block = findBlock(text, id);
  if (block === undefined) return blockNotFound(text, id, file);
  const lineEnd = lineEndOf(text);
  const body = withoutHeading(text, block, adaptLineEnds(dropLastBreak(options.body), lineEnd));
  const { lead, core, trail } = takeApart(text.slice(block.inner.start, block.inner.end));
  const content = options.append === true && core !== '' ? `${core}${lineEnd}${body}` : body;
  const head = text.slice(0, block.inner.start);
  const tail = text.slice(block.inner.end);
  const before = head.endsWith('\n') || head === '' ? lead : `${lineEnd}${lead}`;
  const after = content === '' ? trail.replace(/^\r?\n/u, '') : trail === '' && tail !== '' ? lineEnd : trail;
  const edited = `${head}${before}${content}${after}${tail}`;
  const again = findBlock(edited, id);
  const isWhole =
    again?.kind === block.kind &&
    again.outer.start === block.outer.start &&
    (block.kind !== 'marker' || edited.length - again.inner.end === tail.length);
  if (!isWhole)
    return fail(
      'INTERNAL_ERROR',
      `Block #${id} would not be found again after this edit of ${file}.`,
      'Nothing was written. A marker, or a code fence that is not closed, is in the new text.',
    );
  const within = {
    first: countBreaks(edited, again.outer.start) + 1,
    last: countBreaks(edited, again.outer.end - 1) + 1,
  };
  return { ok: true, text: edited, count: 1, within };
}

/** No text at all takes the lines out. */
export function replaceLines(text: string, { first, last }: LineRange, body: string, file: string): Edited {
  const starts = startsOfLines(text);
  const total = starts.length - 1;
  if (first < 1 || last < first || last > total)
    return fail(
      'INVALID_TARGET',
      `Line range L${first}${last === first ? '' : `-L${last}`} is out of bounds: ${file} has ${total} lines`,
    );
  const from = starts[first - 1] ?? 0;
  const to = starts[last] ?? text.length;
  const lineEnd = lineEndOf(text);
  const content = adaptLineEnds(dropLastBreak(body), lineEnd);
  const ending = /\r?\n$/u.exec(text.slice(Math.max(from, to - 2), to))?.[0] ?? '';
  return {
    ok: true,
    text: text.slice(0, from) + (body === '' ? '' : content + ending) + text.slice(to),
    count: 1,
  };
}

/** The body is `old`, a line `---`, `new`. */
export function replaceText(text: string, body: string, options: { all: boolean; file: string }): Edited {
  const { all, file } = options;
  const separator = /(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/u.exec(body);
  if (separator === null)
    return fail('INVALID_PAYLOAD', 'No separator line --- between the old and the new text.', ...FORM);
  if (separator.index === 0) return fail('INVALID_PAYLOAD', 'The old text is empty.', ...FORM);
  let old = body.slice(0, separator.index);
  let fresh = dropLastBreak(body.slice(separator.index + separator[0].length));
  const lineEnd = lineEndOf(text);
  fresh = adaptLineEnds(fresh, lineEnd);
  if (!text.includes(old)) old = adaptLineEnds(old, lineEnd);
  const first = text.indexOf(old);
  if (first === -1) return fail('NOT_FOUND', `Text not found in ${file}`, `old: ${previewLine(old)}`);
  if (all) {
    const pieces = text.split(old);
    return { ok: true, text: pieces.join(fresh), count: pieces.length - 1 };
  }
  if (text.includes(old, first + 1)) return ambiguous(text, old, file);
  return { ok: true, text: text.slice(0, first) + fresh + text.slice(first + old.length), count: 1 };
}

/** The last line is ended first, when it is not. */
export function appendText(text: string, body: string): string {
  const lineEnd = lineEndOf(text);
  const gap = text === '' || text.endsWith('\n') ? '' : lineEnd;
  return `${text}${gap}${adaptLineEnds(body, lineEnd)}`;
}

export function blockNotFound(text: string, id: string, file: string): Failure {
  const { ids } = listBlocks(text);
  return fail(
    'NOT_FOUND',
    `Block not found: #${id} in ${file}`,
    'A block is one of these:',
    `  <!-- #${id} --> … <!-- /${id} -->`,
    `  ## A heading {#${id}}`,
    `  ## A heading whose words are "${id.replaceAll('-', ' ')}"`,
    `Available blocks: ${ids.length === 0 ? '(none)' : ids.join(', ')}`,
  );
}

/** A line that ends with `\n` is no more than that line. */
export function countLines(text: string): number {
  return text === '' ? 0 : countBreaks(text, text.length - 1) + 1;
}

/** Where each line begins, and where the last one ends. */
export function startsOfLines(text: string): number[] {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const feed = text.indexOf('\n', at);
    at = feed === -1 ? text.length : feed + 1;
  }
  starts.push(text.length);
  return starts;
}

const FORM = ['Usage: /replace PATH, then the old text, a line ---, the new text'];

/** CR LF where every line ends so. */
function lineEndOf(text: string): '\n' | '\r\n' {
  return text.includes('\r\n') && !/(?<!\r)\n/u.test(text) ? '\r\n' : '\n';
}

function adaptLineEnds(text: string, lineEnd: '\n' | '\r\n'): string {
  return lineEnd === '\n' ? text : text.replaceAll(/\r?\n/gu, '\r\n');
}

function dropLastBreak(text: string): string {
  return text.replace(/\r?\n$/u, '');
}

/** Who reads a section sees its heading, and may well send it back with the rest. */
function withoutHeading(text: string, { kind, outer, inner }: Block, body: string): string {
  if (kind === 'marker') return body;
  const heading = text.slice(outer.start, inner.start).trimEnd();
  if (
    heading === '' ||
    !(body === heading || body.startsWith(`${heading}\n`) || body.startsWith(`${heading}\r\n`))
  )
    return body;
  return body.slice(heading.length).replace(/^(?:[ \t]*\r?\n)+/u, '');
}

/** Blank lines, what is not blank, and from the end of its last line on the rest. */
function takeApart(inner: string): { lead: string; core: string; trail: string } {
  const first = inner.search(/\S/u);
  if (first === -1) return { lead: inner, core: '', trail: '' };
  const from = inner.lastIndexOf('\n', first) + 1;
  let last = inner.length;
  while (/\s/u.test(inner.charAt(last - 1))) last -= 1;
  const feed = inner.indexOf('\n', last);
  const to = feed === -1 ? inner.length : inner[feed - 1] === '\r' ? feed - 1 : feed;
  return { lead: inner.slice(0, from), core: inner.slice(from, to), trail: inner.slice(to) };
}

function ambiguous(text: string, old: string, file: string): Failure {
  const places: string[] = [];
  let count = 0;
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + 1)) {
    count += 1;
    if (places.length < MAX_SHOWN_MATCHES) {
      const start = text.lastIndexOf('\n', at) + 1;
      places.push(`  L${text.slice(0, at).split('\n').length}: ${previewLine(text.slice(start))}`);
    }
  }
  const more = count > places.length ? [`  … and ${count - places.length} more`] : [];
  return fail(
    'CONFLICT',
    `${count} matches in ${file}: say more of the text, or use --all`,
    ...places,
    ...more,
  );
}

function previewLine(text: string): string {
  const line = /^.*/u.exec(text)?.[0] ?? '';
  return line.length <= MATCH_CHARS ? line : `${line.slice(0, MATCH_CHARS - 1)}…`;
}
