// Shortcuts that are used and that nobody has defined.

import { parseTemplate, type TemplateLine } from '../actions/parse-template.js';
import { slugOf } from '../document/headings.js';
import type { Page } from '../document/page.js';
import type { Finding } from './finding.js';

/** Given out by the page itself, for links that have no name. */
const NUMBERED = /^link-\d+$/u;

export function lintShortcuts(page: Page): Finding[] {
  const isKnown = knowerOf(page);
  return page.links.flatMap((link): Finding[] => {
    if (link.kind !== 'invoked' || isKnown(link.id)) return [];
    const line = page.lines.findIndex(({ next }) => next > link.start) + 1;
    return [
      {
        line,
        code: 'UNKNOWN_SHORTCUT',
        message: `[${link.label}][@${link.id}]: nothing is called @${link.id}`,
      },
    ];
  });
}

function knowerOf(page: Page): (id: string) => boolean {
  const menus = new Set(page.directives.flatMap(({ kind, name }) => (kind === 'nav' ? [name] : [])));
  const automatic = new Set(page.links.flatMap((link) => (link.kind === 'link' ? [slugOf(link.label)] : [])));
  const values = page.fences
    .filter(({ part }) => part === 'response')
    .flatMap(({ text }) => valuesIn(parseTemplate(text).lines));
  return (id) => {
    const [menu = '', entry] = id.split('.');
    if (entry !== undefined) return menu === 'page' ? isKnownHere(entry) : menus.has(menu);
    return isKnownHere(id);
  };

  function isKnownHere(id: string): boolean {
    return (
      page.shortcuts.has(id) ||
      NUMBERED.test(id) ||
      automatic.has(id.replace(/-\d+$/u, '')) ||
      automatic.has(id) ||
      values.some(
        (name) => id === name || (id.startsWith(`${name}-`) && /^\d+$/u.test(id.slice(name.length + 1))),
      )
    );
  }
}

/** `{@name} = …` gives `@name`, or `@name-1` and so on in a loop. */
function valuesIn(lines: readonly TemplateLine[]): string[] {
  return lines.flatMap((line) =>
    line.kind === 'shortcut' ? [line.name] : line.kind === 'loop' ? valuesIn(line.lines) : [],
  );
}
