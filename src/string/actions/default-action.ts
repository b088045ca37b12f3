// The action that a page is opened with: what it shows stands below the page. A page from the web has none.

import type { CommandCall } from '../command.js';
import type { LoadedPage } from '../files/load-document.js';
import { runAction } from './run-action.js';
import { openScene } from './scene.js';

/** What it shows; undefined when there is none, or it failed: to look at a page is not to ask for what it does. */
export async function runDefaultAction(
  call: Omit<CommandCall, 'line'>,
  loaded: LoadedPage,
): Promise<string | undefined> {
  const id = loaded.page.frontmatter.default;
  if (id === undefined || loaded.remote || call.session.document?.block != null) return undefined;
  const scene = await openScene({ ...call, emit: undefined }, loaded);
  const action = scene.actions.find(id);
  if (action === undefined || action.fields.some((field) => field.required && field.default === undefined))
    return undefined;
  const result = await runAction(scene, action, '');
  return result.ok
    ? [result.system, result.content].filter((part) => part !== undefined).join('\n')
    : undefined;
}
