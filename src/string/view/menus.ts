// The menus of a page: files of entries, whose addresses begin where the file is.

import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import type { Menu } from '../session/shortcuts.js';
import { type MenuEntry, parseMenu } from '../document/directives.js';
import { loadPage } from '../load/load.js';
import type { PageWarning } from '../document/page.js';
import { isWeb, resolveWritten } from '../load/resolve-target.js';

/** Of one page. */
export const MAX_MENUS = 20;

export async function loadMenus(
  call: Pick<CommandCall, 'runtime' | 'signal'>,
  loaded: LoadedPage,
): Promise<{ readonly menus: readonly Menu[]; readonly warnings: readonly PageWarning[] }> {
  const menus: Menu[] = [];
  const warnings: PageWarning[] = [];
  for (const { kind, name, path, line } of loaded.page.directives) {
    if (kind !== 'nav') continue;
    if (menus.length >= MAX_MENUS) {
      warnings.push({ line, message: `more than ${MAX_MENUS} menus` });
      break;
    }
    const place = resolveWritten(call, path, loaded.uri);
    const file = place.ok ? await loadPage(call, place) : place;
    if (file.ok) {
      const entries = parseMenu(file.source).map((entry) => resolveEntry(call, entry, file.uri));
      menus.push({ name, source: file.uri, entries });
    } else warnings.push({ line, message: `menu ${name}: ${file.message}` });
  }
  return { menus, warnings };
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
