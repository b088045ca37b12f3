// A page of HTML in pieces that can be read by themselves, each in a time that grows with its length only.

/** What is never part of the text. */
const AROUND =
  /<(nav|header|aside|footer|script|style|noscript|template|svg|iframe)(?=[\s/>])[^<>]*>|<!--/giu;
/** What must not be torn: a list, a table, code, a quote. */
const TAG = /<(\/?)([a-z][a-z0-9]*)(?=[\s/>])/giu;
const WHOLE: ReadonlySet<string> = new Set(['ul', 'ol', 'dl', 'table', 'pre', 'blockquote']);
const ENDS: ReadonlySet<string> = new Set([
  ...WHOLE,
  'p',
  'div',
  'section',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
]);
const VOID: ReadonlySet<string> = new Set([
  'br',
  'hr',
  'img',
  'input',
  'meta',
  'link',
  'source',
  'wbr',
  'col',
  'area',
]);
const PIECE_CHARS = 8 * 1024;

export interface HtmlPiece {
  readonly text: string;
  /** Elements within elements, at most. */
  readonly depth: number;
}

/** What the page says is its own: `main`, else `article`, else all of its body; without what is around it. */
export function textPart(html: string): string {
  const plain = leaveOut(html);
  const lower = plain.toLowerCase();
  for (const tag of ['main', 'article', 'body']) {
    const open = new RegExp(`<${tag}(?:\\s[^<>]*)?>`, 'iu').exec(plain);
    if (open === null) continue;
    const from = open.index + open[0].length;
    const end = lower.lastIndexOf(`</${tag}`);
    return plain.slice(from, end < from ? undefined : end);
  }
  return plain;
}

export function cutHtml(html: string): HtmlPiece[] {
  const pieces: HtmlPiece[] = [];
  let [from, depth, deepest, whole] = [0, 0, 0, 0];
  const cut = (to: number): void => {
    if (to > from) pieces.push({ text: html.slice(from, to), depth: deepest });
    [from, deepest] = [to, 0];
  };
  for (const { index, 1: slash, 2: name = '' } of html.matchAll(TAG)) {
    const tag = name.toLowerCase();
    if (VOID.has(tag)) continue;
    if (slash === '') {
      depth += 1;
      deepest = Math.max(deepest, depth);
      if (WHOLE.has(tag)) whole += 1;
      continue;
    }
    depth = Math.max(0, depth - 1);
    if (WHOLE.has(tag)) whole = Math.max(0, whole - 1);
    if (whole > 0 || !ENDS.has(tag) || index - from < PIECE_CHARS) continue;
    const end = html.indexOf('>', index);
    cut(end === -1 ? html.length : end + 1);
  }
  cut(html.length);
  return pieces;
}

/** Without elements that are not read; one that is never closed loses its tag only. */
function leaveOut(html: string): string {
  const lower = html.toLowerCase();
  const unclosed = new Set<string>();
  const parts: string[] = [];
  let at = 0;
  AROUND.lastIndex = 0;
  for (let found = AROUND.exec(html); found !== null; found = AROUND.exec(html)) {
    const close = found[1] === undefined ? '-->' : `</${found[1].toLowerCase()}`;
    const after = found.index + found[0].length;
    const end = unclosed.has(close) ? -1 : lower.indexOf(close, after);
    if (end === -1) unclosed.add(close);
    parts.push(html.slice(at, found.index));
    const last = end === -1 || found[1] === undefined ? -1 : html.indexOf('>', end);
    at =
      end === -1 ? after : found[1] === undefined ? end + close.length : last === -1 ? html.length : last + 1;
    AROUND.lastIndex = at;
  }
  return `${parts.join('')}${html.slice(at)}`;
}
