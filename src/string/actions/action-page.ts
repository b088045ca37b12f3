// The actions of a page, and what it may do with them: its own, those of a package, those of a stranger.

import { dirname, join } from 'node:path';
import { isInside } from '../../host/files/is-inside.js';
import type { LoadedPage } from '../files/load-document.js';
import type { Page, PageWarning } from '../document/page.js';
import { readRegistry } from '../packages/registry.js';
import type { Trust } from '../policy.js';
import type { AppTopic } from '../packages/env-store.js';
import type { Action } from './action.js';
import { parseAction } from './parse-action.js';

/** Of one page; what follows them is no action. */
export const MAX_ACTIONS = 5000;

export interface PageActions {
  readonly all: readonly Action[];
  /** What its author got wrong. */
  readonly warnings: readonly PageWarning[];
  /** By the letter first, then in any case. */
  find(id: string): Action | undefined;
  /** The template of an action's answer. */
  responseOf(id: string): string | undefined;
}

const known = new WeakMap<Page, PageActions>();

export function actionsOf(page: Page): PageActions {
  let found = known.get(page);
  if (found === undefined) known.set(page, (found = readActions(page)));
  return found;
}

function readActions({ fences }: Page): PageActions {
  const byId = new Map<string, Action>();
  const responses = new Map<string, string>();
  const warnings: PageWarning[] = [];
  for (const fence of fences) {
    if (fence.part === 'response') {
      if (!responses.has(fence.id)) responses.set(fence.id, fence.text);
      continue;
    }
    if (byId.size >= MAX_ACTIONS) continue;
    if (byId.has(fence.id)) {
      warnings.push({
        line: fence.line,
        message: `INVALID_ACTION_BLOCK: there is an action "${fence.id}" already`,
      });
      continue;
    }
    const { action, warnings: said } = parseAction(fence);
    if (action !== undefined) byId.set(fence.id, action);
    warnings.push(...said.map(({ line, code, message }) => ({ line, message: `${code}: ${message}` })));
  }
  const all = [...byId.values()];
  return {
    all,
    warnings,
    find: (id) => byId.get(id) ?? all.find((action) => action.id.toLowerCase() === id.toLowerCase()),
    responseOf: (id) => responses.get(id),
  };
}

export function trustOf({ remote, path }: Pick<LoadedPage, 'remote' | 'path'>, home: string): Trust {
  if (remote || path === undefined) return 'remote';
  return isInside(path, join(home, 'packages')) ? 'installed' : 'local';
}

/** Where a page's commands run. */
export function folderOf({ path }: Pick<LoadedPage, 'path'>, home: string): string {
  return path === undefined ? home : dirname(path);
}

/** What was set for an app is for its own pages, not for whatever else is opened in its topic. */
export function mayUseEnv({ uri, path, remote }: LoadedPage, home: string, { app }: AppTopic): boolean {
  const packages = join(home, 'packages');
  if (!remote && path !== undefined) return !isInside(path, packages) || isInside(path, join(packages, app));
  const link = readRegistry(home).apps[app];
  return link !== undefined && originOf(link) !== undefined && originOf(link) === originOf(uri);
}

function originOf(uri: string): string | undefined {
  try {
    const { origin } = new URL(uri);
    return origin === 'null' ? undefined : origin;
  } catch {
    return undefined;
  }
}
