// What a reader sees of a page: text with `[Label][@id]` in place of long addresses, and nothing that is for programs.

import { freeName } from './free-name.js';
import { type Page, type PageLink, parsePage, startOfBody } from './page.js';

/** A shorter address of a file is easier read than looked up. */
const LONG_HREF_CHARS = 40;
/** A longer label would make a long name. */
const MAX_NAMED_LABEL_CHARS = 20;

export interface Rendered {
  readonly text: string;
  /** Names that were made for plain links, and where they lead. */
  readonly auto: ReadonlyMap<string, string>;
  /** Ids of `[Label][@id]` that the page itself does not define. */
  readonly invoked: readonly string[];
}

export interface TakenNames {
  has(name: string): boolean;
  /** Where a name leads that was made for a link: the same link, shown again, has the same name. */
  linkOf?(name: string): string | undefined;
}

export interface RenderOptions {
  /** Names that stand for something already, beside those of the author. */
  readonly taken?: TakenNames;
  /** Only this part of the source. */
  readonly from?: number;
  readonly to?: number;
}

export function renderPage(page: Page, options: RenderOptions = {}): Rendered {
  const { from = startOfBody(page), to = page.source.length } = options;
  const auto = new Map<string, string>();
  const invoked: string[] = [];
  const names = new AutoNames(page, auto, options.taken);
  const out = new Output(page.source, from);
  const links = page.links.filter(({ start, end }) => start >= from && end <= to);
  let next = 0;
  for (const index of page.hidden) {
    const line = page.lines[index];
    if (line === undefined || line.start < from) continue;
    if (line.start >= to) break;
    for (; (links[next]?.start ?? to) < line.start; next++) renderLink(links[next]);
    out.drop(line.start, line.next);
  }
  for (; next < links.length; next++) renderLink(links[next]);
  return { text: out.finish(to).trim(), auto, invoked };

  function renderLink(link: PageLink | undefined): void {
    if (link === undefined) return;
    if (link.kind === 'invoked') {
      if (!page.shortcuts.has(link.id)) invoked.push(link.id);
      return;
    }
    const { label, href } = link;
    if (link.kind === 'shortcut') return out.replace(link.start, link.end, `[${label}][@${link.id}]`);
    if (isAuto(href)) return out.replace(link.start, link.end, `[${label}][@${names.make(label, href)}]`);
    // An ordinary reference, whose definition is not shown.
    if (page.source[link.end - 1] === ']') out.replace(link.start, link.end, `[${label}](${href})`);
  }
}

/**
 * Text that came as an answer: data, whatever it says. No frontmatter, no menus, no includes, no actions; its links get
 * names, but none that stands for something already, and names that it gives itself are among them.
 */
export function renderData(text: string, taken: TakenNames): Rendered {
  const page = parsePage(text);
  const named = new Map<string, string>();
  const counts = new Map<string, number>();
  const renamed = new Map<string, string>();
  for (const [id, href] of page.shortcuts) {
    const isTaken = { has: (name: string): boolean => named.has(name) || isOthers(taken, name, href) };
    const name = freeName(id, '-', isTaken, counts);
    named.set(name, href);
    renamed.set(id, name);
  }
  const links = page.links.map((link) =>
    link.kind === 'shortcut' ? { ...link, id: renamed.get(link.id) ?? link.id } : link,
  );
  const rendered = renderPage({ ...page, links, shortcuts: named }, { taken, from: 0 });
  return { ...rendered, auto: new Map([...named, ...rendered.auto]) };
}

function isOthers(taken: TakenNames | undefined, name: string, href: string): boolean {
  return taken !== undefined && taken.has(name) && taken.linkOf?.(name) !== href;
}

function isAuto(href: string): boolean {
  return /^(?:https?:\/\/|act:)/iu.test(href) || href.length > LONG_HREF_CHARS;
}

class AutoNames {
  readonly #page: Page;
  readonly #taken: TakenNames | undefined;
  readonly #auto: Map<string, string>;
  readonly #counts = new Map<string, number>();
  #links = 0;

  constructor(page: Page, auto: Map<string, string>, taken?: TakenNames) {
    this.#page = page;
    this.#auto = auto;
    this.#taken = taken;
  }

  make(label: string, href: string): string {
    const name = this.#nameOf(label.trim(), {
      has: (each) =>
        this.#page.shortcuts.has(each) || this.#auto.has(each) || isOthers(this.#taken, each, href),
    });
    this.#auto.set(name, href);
    return name;
  }

  #nameOf(label: string, taken: TakenNames): string {
    const isShort = label.length <= MAX_NAMED_LABEL_CHARS && /^[A-Za-z0-9 -]+$/u.test(label);
    const slug = isShort ? label.toLowerCase().replaceAll(/ +/gu, '-') : '';
    if (slug.replaceAll('-', '') !== '') return freeName(slug, '-', taken, this.#counts);
    for (;;) {
      this.#links += 1;
      const name = `link-${this.#links}`;
      if (!taken.has(name)) return name;
    }
  }
}

/** The source in pieces, some of them replaced or left out. */
class Output {
  readonly #source: string;
  readonly #parts: string[] = [];
  #at: number;

  constructor(source: string, from: number) {
    this.#source = source;
    this.#at = from;
  }

  replace(start: number, end: number, text: string): void {
    this.#parts.push(this.#source.slice(this.#at, start), text);
    this.#at = end;
  }

  /** Of two empty lines around what is left out, one is enough. */
  drop(start: number, end: number): void {
    if (start > this.#at) this.#parts.push(this.#source.slice(this.#at, start));
    const before = this.#parts.at(-1) ?? '\n\n';
    const blank = /^[ \t]*\r?\n/u.exec(this.#source.slice(end, end + 200));
    this.#at =
      blank !== null && /(?:^|\n)[ \t]*\r?\n$/u.test(before.slice(-200)) ? end + blank[0].length : end;
  }

  finish(to: number): string {
    this.#parts.push(this.#source.slice(Math.min(this.#at, to), to));
    return this.#parts.join('');
  }
}
