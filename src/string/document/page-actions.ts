// The actions of a page, each read once.

import type { Action } from '../actions/action.js';
import { parseAction } from '../actions/parse-action.js';
import type { Page, PageWarning } from './page.js';

export interface PageActions {
  /** Of the same id the first. */
  readonly actions: ReadonlyMap<string, Action>;
  readonly warnings: readonly PageWarning[];
}

const known = new WeakMap<Page, PageActions>();

export function actionsOf(page: Page): PageActions {
  let found = known.get(page);
  if (found === undefined) known.set(page, (found = readActions(page)));
  return found;
}

function readActions({ fences }: Page): PageActions {
  const actions = new Map<string, Action>();
  const warnings: PageWarning[] = [];
  for (const fence of fences) {
    if (fence.part !== 'action') continue;
    if (actions.has(fence.id)) {
      warnings.push({
        line: fence.line,
        message: `INVALID_ACTION_BLOCK: there is an action "${fence.id}" already`,
      });
      continue;
    }
    const { action, warnings: said } = parseAction(fence);
    if (action !== undefined) actions.set(fence.id, action);
    warnings.push(...said.map(({ line, code, message }) => ({ line, message: `${code}: ${message}` })));
  }
  return { actions, warnings };
}
