// The menus of a page: files of entries, whose addresses begin where the file is.

import { deadline } from '../../base/deadline.js';
import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import type { Menu } from '../session/shortcuts.js';
import { type Directive, type MenuEntry, parseMenu } from '../document/directives.js';
import { loadPage } from '../load/load.js';
import type { PageWarning } from '../document/page.js';
import { isWeb, resolveWritten, within } from '../load/resolve-target.js';

/** Of one page. */
export const MAX_MENUS = 20;
/** For all menus of a page together: it is not shown before they are there, and each of them may be answered late. */
export const MENUS_TIMEOUT_MS = 15_000;

type Reader = Pick<CommandCall, 'runtime' | 'signal'>;

/** All at once, in the order in which the page names them. */
export async function loadMenus(
  call: Reader,
  loaded: LoadedPage,
  timeoutMs = MENUS_TIMEOUT_MS,
): Promise<{ readonly menus: readonly Menu[]; readonly warnings: readonly PageWarning[] }> {
  const named = loaded.page.directives.filter(({ kind }) => kind === 'nav');
  if (named.length === 0) return { menus: [], warnings: [] };
  using limit = deadline(timeoutMs, { also: [call.signal] });
  const limited = { runtime: call.runtime, signal: limit.signal };
  const found = await Promise.all(
    named.slice(0, MAX_MENUS).map(async (each) => await loadMenu(limited, loaded, each)),
  );
  const [tooMany] = named.slice(MAX_MENUS);
  return {
    menus: found.filter((each) => 'entries' in each),
    warnings: [
      ...found.filter((each) => 'line' in each),
      ...(tooMany === undefined ? [] : [{ line: tooMany.line, message: `more than ${MAX_MENUS} menus` }]),
    ],
  };
}

async function loadMenu(
  call: Reader,
  loaded: LoadedPage,
  { name, path, line }: Directive,
): Promise<Menu | PageWarning> {
  const warn = (message: string): PageWarning => ({ line, message: `menu ${name}: ${message}` });
  const place = within(resolveWritten(call, path, loaded.uri), loaded.manifest);
  if (!place.ok) return warn(place.message);
  try {
    const file = await loadPage(call, place);
    if (!file.ok) return warn(call.signal.aborted ? 'there is no time left' : file.message);
    const entries = parseMenu(file.source).map((entry) => resolveEntry(call, entry, file.uri));
    return { name, source: file.uri, entries };
  } catch (thrown) {
    if (!call.signal.aborted) throw thrown;
    return warn('there is no time left');
  }
}

/** What leads nowhere stays as it is written: the reason is told to whoever goes there. */
function resolveEntry(call: Pick<CommandCall, 'runtime'>, entry: MenuEntry, base: string): MenuEntry {
  const hash = entry.href.indexOf('#');
  const [href, block] = hash === -1 ? [entry.href, ''] : [entry.href.slice(0, hash), entry.href.slice(hash)];
  if (href === '' || isWeb(href)) return entry;
  const place = resolveWritten(call, href, base);
  if (!place.ok) return entry;
  return { ...entry, href: `${'path' in place ? place.path : place.url}${block}` };
}

export function renderMenu({ name, entries }: Menu): string {
  return entries.map(({ id, label }) => `[${label}][@${name}.${id}]`).join('\n');
}
