// A page as a topic shows it: hints, text, and what its names stand for.

import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import { type Failure, fail } from '../result.js';
import type { OpenDocument, PageFacts, Session } from '../session/session.js';
import type { Menu } from '../session/shortcuts.js';
import { findBlock } from '../document/blocks.js';
import { hintsOf } from './hints.js';
import { expandIncludes, expandOne } from './include.js';
import { loadMenus } from './menus.js';
import { actionsOf } from '../actions/action-page.js';
import { MAX_WARNINGS, type Page, type PageWarning } from '../document/page.js';
import { type Rendered, type RenderOptions, renderPage } from '../document/render.js';

type Viewer = Pick<CommandCall, 'session' | 'runtime' | 'signal'>;

export interface PageView {
  readonly text: string;
  readonly names: ReadonlyMap<string, string>;
  readonly auto: ReadonlyMap<string, string>;
  readonly menus: readonly Menu[];
  readonly facts: PageFacts;
}

export async function viewPage(
  call: Viewer,
  loaded: LoadedPage,
  block: string | null,
  options: { readonly quiet?: boolean } = {},
): Promise<PageView | Failure> {
  const { page } = loaded;
  const { session } = call;
  const render: RenderOptions = { taken: { has: (name) => session.shortcuts.values.has(name) } };
  const whole =
    block === null ? await wholeView(call, loaded, render) : await findView(call, loaded, block, render);
  if ('ok' in whole) return whole;
  const { menus, warnings } = await loadMenus(call, loaded);
  const hints = block === null && options.quiet !== true ? await hintsOf(call, loaded, menus) : [];
  const names = new Map([...page.shortcuts, ...whole.page.shortcuts]);
  const view = { names, auto: whole.rendered.auto, menus };
  const { all: actions, warnings: wrong } = actionsOf(page);
  const said = [...page.warnings, ...wrong, ...warnings].sort((one, other) => one.line - other.line);
  return {
    ...view,
    text: [hints.join('\n'), whole.rendered.text].filter((part) => part !== '').join('\n\n'),
    facts: {
      menus: menus.map(({ name }) => name),
      actions: actions.map(({ id }) => id),
      converted: loaded.original !== undefined && !isManifest(loaded.original),
      warnings: [...said.map(describeWarning), ...unknownNames(session, whole.rendered, view)].slice(
        0,
        MAX_WARNINGS,
      ),
    },
  };
}

/** As a topic remembers it. */
export function documentOf({ uri, page, manifest }: LoadedPage, block: string | null): OpenDocument {
  return { uri, title: page.title, block, ...(manifest !== undefined && { manifest }) };
}

/** The topic shows it from now on: what the page before was known by is gone. */
export function keepView(session: Session, { names, auto, menus, facts }: PageView): void {
  const leftOut = session.shortcuts.setPage(names) + session.shortcuts.setAuto(auto);
  session.shortcuts.setMenus(menus);
  session.facts =
    leftOut === 0 ? facts : { ...facts, warnings: [...facts.warnings, `${leftOut} shortcuts are too many`] };
}

interface Shown {
  readonly page: Page;
  readonly rendered: Rendered;
}

async function wholeView(call: Viewer, loaded: LoadedPage, options: RenderOptions): Promise<Shown> {
  const page = await expandIncludes(call, loaded);
  return { page, rendered: renderPage(page, options) };
}

async function findView(
  call: Viewer,
  loaded: LoadedPage,
  id: string,
  options: RenderOptions,
): Promise<Shown | Failure> {
  const { page } = loaded;
  const block = findBlock(page.source, id, page.lines);
  if (block !== undefined) {
    const { start, end } = block.kind === 'marker' ? block.inner : block.outer;
    return { page, rendered: renderPage(page, { ...options, from: start, to: end }) };
  }
  const included = page.directives.find(({ kind, name }) => kind === 'include' && name === id);
  if (included !== undefined) {
    const other = await expandOne(call, loaded, included);
    return { page: other, rendered: renderPage(other, options) };
  }
  const available = page.blocks.length === 0 ? '(none)' : page.blocks.join(', ');
  return fail('BLOCK_NOT_FOUND', `Block not found: #${id}`, `Available blocks: ${available}`);
}

function describeWarning({ line, message }: PageWarning): string {
  return `line ${line}: ${message}`;
}

function unknownNames(
  session: Session,
  { invoked }: Rendered,
  { names, auto, menus }: Pick<PageView, 'names' | 'auto' | 'menus'>,
): string[] {
  const isKnown = (id: string): boolean => {
    if (names.has(id) || auto.has(id) || session.shortcuts.values.has(id)) return true;
    const [owner = '', ...rest] = id.split('.');
    if (owner === 'page') return isKnown(rest.join('.'));
    return menus.some(
      ({ name, entries }) => name === owner && entries.some((entry) => entry.id === rest.join('.')),
    );
  };
  return [...new Set(invoked)].filter((id) => !isKnown(id)).map((id) => `Unknown shortcut: @${id}`);
}

/** What a page was made of is HTML, or else a manifest, which is JSON. */
export function isManifest(original: string): boolean {
  return /^\s*\{/u.test(original);
}
