// HTML lets the ends of rows, cells and entries be left out; whoever reads on without them takes one for a part of the other.

const TAG = /<(\/?)(table|thead|tbody|tfoot|tr|td|th|ul|ol|li|dl|dt|dd)(?=[\s/>])/giu;

/** What begins something new ends these, as far as they are open within the same table or list. */
const ENDED_BY: Readonly<Record<string, readonly string[]>> = {
  td: ['td', 'th'],
  th: ['td', 'th'],
  tr: ['td', 'th', 'tr'],
  thead: ['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'],
  tbody: ['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'],
  tfoot: ['td', 'th', 'tr', 'thead', 'tbody', 'tfoot'],
  li: ['li'],
  dt: ['dt', 'dd'],
  dd: ['dt', 'dd'],
};
const WHOLE: ReadonlySet<string> = new Set(['table', 'ul', 'ol', 'dl']);

/** How far an end is looked for; what is deeper is no text that anybody wrote. */
const MAX_LOOK = 200;

/** The same page with the ends written out. */
export function writeEndTags(html: string): string {
  const parts: string[] = [];
  const open: string[] = [];
  let at = 0;
  const end = (index: number, isEnded: (tag: string) => boolean): void => {
    for (let top = open.at(-1); top !== undefined && isEnded(top); top = open.at(-1)) {
      parts.push(html.slice(at, index), `</${top}>`);
      at = index;
      open.pop();
    }
  };
  for (const { index, 1: slash, 2: name = '' } of html.matchAll(TAG)) {
    const tag = name.toLowerCase();
    if (slash === '') {
      const ended = ENDED_BY[tag] ?? [];
      end(index, (top) => ended.includes(top));
      open.push(tag);
      continue;
    }
    // An end of something that is not open here ends nothing.
    const place = placeOf(open, tag);
    if (place === undefined) continue;
    end(index, () => open.length - 1 > place);
    open.pop();
  }
  end(html.length, () => true);
  return `${parts.join('')}${html.slice(at)}`;
}

/** Where the element is that a tag ends; a cell is not ended from within another table. */
function placeOf(open: readonly string[], tag: string): number | undefined {
  for (let place = open.length - 1; place >= Math.max(0, open.length - MAX_LOOK); place--) {
    const each = open[place] ?? '';
    if (each === tag) return place;
    if (WHOLE.has(each) && !WHOLE.has(tag)) return undefined;
  }
  return undefined;
}
