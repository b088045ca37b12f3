// /nav: the menus of the page, its shortcuts, and the beginning of a menu for a page that has none.

import { currentPage } from '../view/current-page.js';
import { freeName } from '../document/free-name.js';
import { placeOf } from '../load/load.js';
import { renderMenu } from '../view/menus.js';
import { isWeb, resolveWritten } from '../load/resolve-target.js';
import { type CommandResult, fail, succeed } from '../result.js';
import type { Menu } from '../session/shortcuts.js';
import type { Command, CommandCall } from '../command.js';
import { noDocument } from '../view/no-document.js';

/** Labels of a menu in the list of menus. */
const SHOWN_LABELS = 3;
const SCAFFOLD: ReadonlySet<string> = new Set(['scaffold', 'create', 'bootstrap']);

export const navCommand: Command = {
  name: 'nav',
  group: 'navigate',
  usage: '/nav [NAME|page|scaffold|--resolve]',
  summary: 'menus and shortcuts of the page',
  run: async (call) => {
    const { session, line } = call;
    if (session.document === undefined) {
      // A topic of an app has the page of its app.
      const page = await currentPage(call);
      if (!page.ok) return session.topic.type === 'app' ? page : noDocument();
    }
    const asked = line.args.trim();
    if (asked === '') return listMenus(session.shortcuts.menus);
    if (asked === '--resolve') return resolveAll(call);
    if (asked === 'page') return listShortcuts(call);
    if (SCAFFOLD.has(asked)) return await scaffold(call);
    const menu = session.shortcuts.menus.find(({ name }) => name === asked);
    if (menu !== undefined) return succeed(`Menu: ${menu.name}`, renderMenu(menu));
    const names = session.shortcuts.menus.map(({ name }) => name);
    return fail(
      'NOT_FOUND',
      `Menu not found: ${asked}`,
      `Menus: ${names.length === 0 ? '(none)' : names.join(', ')}`,
    );
  },
};

function listMenus(menus: readonly Menu[]): CommandResult {
  if (menus.length === 0)
    return succeed('Menus', 'No menus on this page. Use /nav scaffold to make one of its links.');
  const rows = menus.map(({ name, entries }) => {
    const labels = entries.slice(0, SHOWN_LABELS).map(({ label }) => label);
    const more = entries.length - labels.length;
    return `${name} (${entries.length}): ${labels.join(', ')}${more > 0 ? `, ... (${more} more)` : ''}`;
  });
  return succeed('Menus', `${rows.join('\n')}\n\nuse: /nav <name>`);
}

function listShortcuts({ session }: CommandCall): CommandResult {
  const { page, auto } = session.shortcuts;
  if (page.size === 0 && auto.size === 0) return succeed('No shortcuts on this page.');
  const rows = (names: ReadonlyMap<string, string>): string[] =>
    [...names].map(([id, href]) => `  @${id} → ${href}`);
  return succeed(
    [
      ...(page.size === 0 ? [] : ['Shortcuts:', ...rows(page)]),
      ...(auto.size === 0 ? [] : ['Auto:', ...rows(auto)]),
      'use: /open @id',
    ].join('\n'),
  );
}

function resolveAll(call: CommandCall): CommandResult {
  const { page, auto, menus } = call.session.shortcuts;
  const rows = [
    ...[...page].map(([id, href]) => rowOf(call, id, href, 'inline')),
    ...[...auto].map(([id, href]) => rowOf(call, id, href, 'auto')),
    ...menus.flatMap(({ name, entries }) =>
      entries.map(({ id, href }) => rowOf(call, `${name}.${id}`, href, 'menu')),
    ),
  ];
  return rows.length === 0
    ? succeed('No shortcuts on this page.')
    : succeed(['All shortcuts:', ...rows].join('\n'));
}

function rowOf(call: CommandCall, id: string, href: string, kind: string): string {
  const base = call.session.document?.uri ?? '';
  const hash = href.indexOf('#');
  const [address, block] = hash === -1 ? [href, ''] : [href.slice(0, hash), href.slice(hash)];
  const place = address === '' ? placeOf(call, base) : resolveWritten(call, address, base);
  const shown = !place.ok
    ? href
    : 'path' in place
      ? `${call.runtime.files.shorten(place.path)}${block}`
      : `${place.url}${block}`;
  return `  @${id} → ${shown} (${kind})`;
}

/** A menu file made of the links of the page: to be looked through, and saved beside it. */
async function scaffold(call: CommandCall): Promise<CommandResult> {
  const current = await currentPage(call);
  if (!current.ok) return current;
  const { shortcuts } = call.session;
  const entries = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const link of current.page.links) {
    if (link.kind === 'invoked' || /^(?:#|act:|mailto:)/u.test(link.href)) continue;
    const wanted = link.kind === 'shortcut' ? link.id : slugOf(link.label);
    const id = freeName(wanted, '-', entries, counts);
    entries.set(id, `[@${id} ${link.label.replaceAll(/\s+/gu, ' ')}](${link.href})`);
  }
  const name = freeMenuName(shortcuts.menus);
  const lines = entries.size === 0 ? ['[@home Home](index.md)'] : [...entries.values()];
  const how = isWeb(current.uri)
    ? 'This page is not yours to change: keep the menu where you need it.'
    : `Save it as nav/${name}.md, with paths that begin there, and add to the page:\n[!nav:${name}](nav/${name}.md)`;
  return succeed('Nav Scaffold', `\`\`\`markdown\n${lines.join('\n')}\n\`\`\`\n\n${how}`);
}

function freeMenuName(menus: readonly Menu[]): string {
  const taken = new Set(menus.map(({ name }) => name));
  let name = 'main';
  for (let count = 2; taken.has(name); count++) name = `main${count}`;
  return name;
}

function slugOf(label: string): string {
  const slug = label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, '-')
    .replaceAll(/^-+|-+$/gu, '')
    .slice(0, 30);
  return slug === '' ? 'link' : slug;
}
