// A document taken apart: what it says about itself, its directives, links, actions and blocks. Never throws.

import { listBlocks } from './blocks.js';
import { type Directive, parseDirective } from './directives.js';
import { type Frontmatter, NO_FRONTMATTER, parseFrontmatter } from './frontmatter.js';
import { freeName } from './free-name.js';
import { findLinks, type InlineLink } from './inline.js';
import { scanLines, type ScannedLine } from './lines.js';

/** Of one document; what follows them is text. */
export const MAX_LINKS = 20_000;
/** Of one document, as they are shown. */
export const MAX_WARNINGS = 100;

export interface Page {
  readonly source: string;
  readonly lines: readonly ScannedLine[];
  readonly frontmatter: Frontmatter;
  readonly title: string | null;
  readonly directives: readonly Directive[];
  /** Those that the author has named: `[@id Label](href)` and `[@id]: href`. */
  readonly shortcuts: ReadonlyMap<string, string>;
  readonly links: readonly PageLink[];
  readonly fences: readonly ActionFence[];
  /** Ids of the blocks that have markers, and of what is included. */
  readonly blocks: readonly string[];
  readonly warnings: readonly PageWarning[];
  /** Addresses of ordinary references, by their names in lower case. */
  readonly references: ReadonlyMap<string, string>;
  /** Lines that are not shown: markers, directives, definitions, actions. By their index. */
  readonly hidden: ReadonlySet<number>;
}

export interface PageWarning {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface ActionFence {
  readonly id: string;
  readonly part: 'action' | 'response';
  /** Between the fences, without the last line end. */
  readonly text: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
}

/** `shortcut`: `[@id Label](href)`; `invoked`: `[Label][@id]`; `link`: any other that has an address. */
export type PageLink = {
  readonly start: number;
  readonly end: number;
  readonly label: string;
} & (
  | { readonly kind: 'shortcut'; readonly id: string; readonly href: string }
  | { readonly kind: 'invoked'; readonly id: string }
  | { readonly kind: 'link'; readonly href: string }
);

const ACTION = /^act\.([A-Za-z0-9_-]+)(\.response)?$/u;
const MARKER = /^\s*<!--[ \t]*[#/][A-Za-z0-9_-]+[ \t]*-->\s*$/u;
const DEFINITION =
  /^ {0,3}\[([^\]]{1,999})\]:[ \t]*(?:<([^<>]*)>|(\S+))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*$/u;
const SHORTCUT_LABEL = /^@([A-Za-z0-9_-]+)[ \t\n]+([\s\S]+)$/u;
const SHORTCUT_REF = /^@([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?)$/u;

export function parsePage(source: string): Page {
  const lines = scanLines(source);
  const warnings: PageWarning[] = [];
  const frontmatter = readFrontmatter(source, lines, warnings);
  const found = readLines(source, lines, warnings);
  const { ids, problems } = listBlocks(source, lines);
  warnings.push(...problems.map(({ line, message }) => ({ line, message })));
  const { shortcuts, links } = readLinks(source, found);
  const included = found.directives.filter(({ kind }) => kind === 'include').map(({ name }) => name);
  return {
    source,
    lines,
    frontmatter,
    title: frontmatter.title,
    directives: found.directives,
    shortcuts,
    links,
    fences: found.fences,
    blocks: [...new Set([...ids, ...included])],
    warnings: warnings.sort((one, other) => one.line - other.line).slice(0, MAX_WARNINGS),
    references: found.references,
    hidden: found.hidden,
  };
}

/** A text that is no Markdown, program code say: shown as it is. */
export function plainPage(source: string): Page {
  return {
    source,
    lines: splitLines(source),
    frontmatter: NO_FRONTMATTER,
    title: null,
    directives: [],
    shortcuts: new Map(),
    links: [],
    fences: [],
    blocks: [],
    warnings: [],
    references: new Map(),
    hidden: new Set(),
  };
}

function splitLines(source: string): ScannedLine[] {
  const lines: ScannedLine[] = [];
  for (let start = 0; start < source.length; ) {
    const feed = source.indexOf('\n', start);
    const next = feed === -1 ? source.length : feed + 1;
    const end = feed === -1 ? next : source[feed - 1] === '\r' && feed > start ? feed - 1 : feed;
    lines.push({ start, end, next, fence: undefined, info: undefined, frontmatter: false, comment: false });
    start = next;
  }
  return lines;
}

/** Where the text begins, behind the frontmatter. */
export function startOfBody({ lines, source }: Pick<Page, 'lines' | 'source'>): number {
  const first = lines.find(({ frontmatter }) => !frontmatter);
  return first?.start ?? source.length;
}

function readFrontmatter(
  source: string,
  lines: readonly ScannedLine[],
  warnings: PageWarning[],
): Frontmatter {
  const inside = lines.findIndex((line) => !line.frontmatter);
  const count = inside === -1 ? (lines[0]?.frontmatter === true ? lines.length : 0) : inside;
  const [first, last] = [lines[0], lines[count - 1]];
  if (count < 2 || first === undefined || last === undefined) {
    if (/^\uFEFF?---[ \t]*\r?\n[A-Za-z_][\w-]*:/u.test(source.slice(0, 200)))
      warnings.push({ line: 1, message: 'frontmatter: there is no line --- that ends it' });
    return NO_FRONTMATTER;
  }
  const { frontmatter, problems } = parseFrontmatter(source.slice(first.next, last.start));
  warnings.push(...problems.map(({ line, message }) => ({ line: line + 1, message })));
  return frontmatter;
}

interface FoundInLines {
  readonly directives: Directive[];
  readonly fences: ActionFence[];
  readonly references: Map<string, string>;
  /** `[@id]: href`. */
  readonly defined: Map<string, string>;
  readonly hidden: Set<number>;
  readonly paragraphs: readonly { readonly start: number; readonly end: number }[];
}

function readLines(source: string, lines: readonly ScannedLine[], warnings: PageWarning[]): FoundInLines {
  const directives: Directive[] = [];
  const fences: ActionFence[] = [];
  const references = new Map<string, string>();
  const defined = new Map<string, string>();
  const hidden = new Set<number>();
  const paragraphs: { start: number; end: number }[] = [];
  let paragraph: { start: number; end: number } | undefined;
  let action: { id: string; part: ActionFence['part']; line: number; from: number } | undefined;
  const endAction = (to: number): void => {
    if (action === undefined) return;
    const text = source.slice(action.from, to).replace(/\r?\n$/u, '');
    fences.push({ id: action.id, part: action.part, text, line: action.line });
    action = undefined;
  };
  for (const [index, line] of lines.entries()) {
    if (line.frontmatter) continue;
    if (line.fence !== undefined || line.comment) {
      paragraph = undefined;
      if (line.fence === 'open') {
        endAction(line.start);
        const info = line.info ?? '';
        const named = info.startsWith('act.') ? ACTION.exec(info) : null;
        if (named !== null)
          action = {
            id: named[1] ?? '',
            part: named[2] === undefined ? 'action' : 'response',
            line: index + 1,
            from: line.next,
          };
        else if (info.startsWith('act.'))
          warnings.push({
            line: index + 1,
            message: `INVALID_ACTION_BLOCK: not a name of an action: ${info}`,
          });
      }
      if (action !== undefined) hidden.add(index);
      if (line.fence === 'close') endAction(line.start);
      continue;
    }
    endAction(line.start); // a list item that ended took its fence with it
    const text = source.slice(line.start, line.end);
    const hides = readSpecialLine(text, index, { directives, references, defined, warnings });
    if (hides) hidden.add(index);
    if (hides || text.trim() === '') paragraph = undefined;
    else if (paragraph === undefined) paragraphs.push((paragraph = { start: line.start, end: line.end }));
    else paragraph.end = line.end;
  }
  endAction(source.length);
  return { directives, fences, references, defined, hidden, paragraphs };
}

/** True for a line that is not shown. */
function readSpecialLine(
  text: string,
  index: number,
  found: Pick<FoundInLines, 'directives' | 'references' | 'defined'> & { readonly warnings: PageWarning[] },
): boolean {
  const start = text.trimStart();
  if (start.startsWith('<!--')) return MARKER.test(text);
  if (!start.startsWith('[')) return false;
  if (start.startsWith('[!')) {
    const directive = parseDirective(text, index + 1);
    if (directive === undefined) return false;
    if ('directive' in directive) found.directives.push(directive.directive);
    else if ('problem' in directive) found.warnings.push({ line: index + 1, message: directive.problem });
    return true;
  }
  const definition = DEFINITION.exec(text);
  if (definition === null) return false;
  const [, name = '', bracketed, bare] = definition;
  const href = bracketed ?? bare ?? '';
  if (name.startsWith('^')) return false; // a footnote
  const shortcut = SHORTCUT_REF.exec(name)?.[1];
  const where = shortcut === undefined ? found.references : found.defined;
  const key = shortcut ?? normalise(name);
  if (!where.has(key)) where.set(key, href);
  return true;
}

function readLinks(
  source: string,
  { paragraphs, references, defined }: FoundInLines,
): { readonly shortcuts: Map<string, string>; readonly links: PageLink[] } {
  const shortcuts = new Map(defined);
  const links: PageLink[] = [];
  const taken = new Map<string, number>();
  const isReference = (ref: string, label: string): boolean =>
    SHORTCUT_REF.test(ref) || references.has(normalise(ref === '' ? label : ref));
  for (const { start, end } of paragraphs) {
    if (links.length >= MAX_LINKS) break;
    for (const link of findLinks(source, start, end, isReference)) {
      const kept = describeLink(link, references, shortcuts, taken);
      if (kept !== undefined) links.push(kept);
    }
  }
  return { shortcuts, links };
}

function describeLink(
  { start, end, label, href, ref }: InlineLink,
  references: ReadonlyMap<string, string>,
  shortcuts: Map<string, string>,
  taken: Map<string, number>,
): PageLink | undefined {
  if (href === undefined) {
    const id = SHORTCUT_REF.exec(ref ?? '')?.[1];
    if (id !== undefined) return { start, end, label, kind: 'invoked', id };
    const target = references.get(normalise(ref === '' ? label : (ref ?? '')));
    return target === undefined ? undefined : { start, end, label, kind: 'link', href: target };
  }
  const named = label.startsWith('@') ? SHORTCUT_LABEL.exec(label) : null;
  if (named === null) return { start, end, label, kind: 'link', href };
  const [, wanted = '', shown = ''] = named;
  const id = freeName(wanted, '', shortcuts, taken);
  shortcuts.set(id, href);
  return { start, end, label: shown.trim(), kind: 'shortcut', id, href };
}

function normalise(name: string): string {
  return name.trim().toLowerCase().replaceAll(/\s+/gu, ' ');
}
