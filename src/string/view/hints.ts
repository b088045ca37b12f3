// Lines above a page that say what can be done with it.

import { actionsOf } from '../actions/action-page.js';
import { requirementsOf } from '../actions/requirements.js';
import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import { readEnv } from '../packages/env-store.js';
import type { Menu } from '../session/shortcuts.js';
import { renderMenu } from './menus.js';

const SEPARATOR = '  ·  ';

type Place = Pick<CommandCall, 'session' | 'runtime'>;

/** Menus are unfolded when their topic sees them for the first time. */
export async function hintsOf(call: Place, loaded: LoadedPage, menus: readonly Menu[]): Promise<string[]> {
  const lines: string[] = [];
  const folded: string[] = [];
  for (const menu of menus) {
    if (call.session.shortcuts.seeMenu(menu.source))
      lines.push(`[nav] ${menu.name} — first view`, renderMenu(menu));
    else folded.push(menu.name);
  }
  if (folded.length > 0) lines.push(`[nav] ${folded.join(', ')} — /nav <name>`);
  const actions = actionsOf(loaded.page).all.map(({ id }) => id);
  if (actions.length > 0)
    lines.push(
      [`[actions] ${actions.join(', ')}`, '/act --help (all)', '/act.<name> --help'].join(SEPARATOR),
    );
  return [...lines, ...(await environmentHint(call, loaded))];
}

async function environmentHint(call: Place, loaded: LoadedPage): Promise<string[]> {
  const missing = await missingVariables(call, loaded);
  if (missing.length === 0) return [];
  const setup = requirementsOf(loaded);
  return [
    `[!] Missing required env: ${missing.map((name) => `$${name}`).join(', ')}`,
    `    Set: ${missing.map((name) => `/set $${name}="..."`).join(' ; ')}`,
    ...(setup === undefined ? [] : [`    Setup: /open ${setup}`]),
  ];
}

/** Of those that `requires:` names. */
export async function missingVariables({ session, runtime }: Place, { page }: LoadedPage): Promise<string[]> {
  const { requires } = page.frontmatter;
  if (requires.length === 0) return [];
  const { topic } = session;
  const known = topic.type === 'app' ? await readEnv(runtime.agent.home, topic) : {};
  return requires.filter((name) => !Object.hasOwn(known, name));
}
