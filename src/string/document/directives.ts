// Lines that tell the reader's program something: `[!nav:main](menu.md)`, `[!include:tips](tips.md#short)`.

export interface Directive {
  readonly kind: 'nav' | 'include' | 'requirements';
  /** The name of the menu, or the id of the block that is included; empty for requirements. */
  readonly name: string;
  /** Without `#block`; empty for `[!include:id]()`. */
  readonly path: string;
  /** Of `path#block`; of an include also when only its id is given. */
  readonly block: string | undefined;
  /** From 1. */
  readonly line: number;
}

const DIRECTIVE = /^\s*\[!([a-z]+)(?::([^\]]*))?\]\(([^)]*)\)\s*$/u;
const NAME = /^[A-Za-z0-9_-]+$/u;
/** A menu of this name would hide the shortcuts of the page itself, `@page.id`. */
const RESERVED = 'page';

export type DirectiveLine =
  | { readonly directive: Directive }
  | { readonly problem: string }
  /** It looks like one, and is shown to nobody. */
  | { readonly ignored: true };

/** Undefined for a line that is text. */
export function parseDirective(text: string, line: number): DirectiveLine | undefined {
  const found = DIRECTIVE.exec(text);
  if (found === null) return undefined;
  const [, word = '', name, target = ''] = found;
  const kind = word === 'menu' ? 'nav' : word;
  if (kind !== 'nav' && kind !== 'include' && kind !== 'requirements') return { ignored: true };
  const address = target.trim().replace(/^<(.*)>$/u, '$1');
  const hash = address.indexOf('#');
  const path = hash === -1 ? address : address.slice(0, hash);
  const anchor = hash === -1 ? undefined : address.slice(hash + 1);
  if (kind === 'requirements') return { directive: { kind, name: '', path, block: anchor, line } };
  if (name === undefined || name === '')
    return { problem: `MISSING_IDENTIFIER: [!${word}](…) needs a name: [!${word}:name](…)` };
  if (!NAME.test(name)) return { problem: `MISSING_IDENTIFIER: not a name: ${name}` };
  if (kind === 'nav' && name === RESERVED) return { problem: `"${RESERVED}" is no name for a menu` };
  return { directive: { kind, name, path, block: kind === 'include' ? (anchor ?? name) : anchor, line } };
}

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly href: string;
}

/** Entries of one menu; what follows is left out. */
export const MAX_MENU_ENTRIES = 500;

/** No part can begin where another may go on: a line of nothing but beginnings is read once. */
const ENTRY = /\[@([A-Za-z0-9_-]+)[ \t]+([^[\]\s][^[\]]*)\]\(([^)\s]+)\)/u;

/** Of every line that has `[@id Label](path)` in it; of the same id the first. */
export function parseMenu(text: string): MenuEntry[] {
  const entries = new Map<string, MenuEntry>();
  for (const line of text.split('\n')) {
    const found = line.includes('[@') ? ENTRY.exec(line) : null;
    if (found === null) continue;
    const [, id = '', label = '', href = ''] = found;
    if (!entries.has(id) && entries.size < MAX_MENU_ENTRIES)
      entries.set(id, { id, label: label.trim(), href: href.replace(/^<(.*)>$/u, '$1') });
  }
  return [...entries.values()];
}
