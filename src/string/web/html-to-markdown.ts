// A page of HTML as Markdown: what there is to read of it, without what is around it.

/** What is never part of the text. */
const AROUND = [
  'nav',
  'header',
  'aside',
  'footer',
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
];

export async function htmlToMarkdown(html: string): Promise<string> {
  // Loaded when the first page of HTML comes: most daemons never see one. In a bundle all that it exports is its default.
  const { NodeHtmlMarkdown } = (await import('node-html-markdown')).default;
  const converter = new NodeHtmlMarkdown({
    ignore: AROUND,
    maxConsecutiveNewlines: 2,
    bulletMarker: '-',
    useInlineLinks: false,
  });
  const text = converter.translate(textPart(html));
  return `${text.replaceAll(/\n{3,}/gu, '\n\n').trim()}\n`;
}

/** What the page says is its own: `main`, else `article`, else all of its body. */
function textPart(html: string): string {
  for (const tag of ['main', 'article', 'body']) {
    const open = new RegExp(`<${tag}(?:\\s[^>]*)?>`, 'iu').exec(html);
    if (open === null) continue;
    const from = open.index + open[0].length;
    const end = html.toLowerCase().lastIndexOf(`</${tag}`);
    return html.slice(from, end < from ? undefined : end);
  }
  return html;
}

/** Of the head, for pages that are known by it. */
export function titleOfHtml(html: string): string | undefined {
  const found = /<title(?:\s[^>]*)?>([^<]{1,500})<\/title>/iu.exec(html)?.[1]?.trim();
  return found === '' ? undefined : found?.replaceAll(/\s+/gu, ' ');
}
