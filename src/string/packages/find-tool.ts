// A tool by its name: one of the agent's own, one of this machine, one that was installed.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandCall } from '../command.js';
import { loadPage, placeOf } from '../load/load.js';
import { loadShared } from '../load/load-shared.js';
import { pathOfUri } from '../files/agent-files.js';
import { type LoadedPage, loadPath } from '../files/load-document.js';
import { type Failure, fail } from '../result.js';
import { readRegistry } from './registry.js';

/** Files of one folder that are looked into for a tool that is called otherwise than its file. */
export const MAX_TOOLS_SEARCHED = 500;

type Caller = Omit<CommandCall, 'line'>;

export async function findTool(call: Caller, name: string): Promise<LoadedPage | Failure> {
  const { home } = call.runtime.agent;
  const { toolsDir } = call.runtime;
  const own = join(home, 'tools');
  const found =
    (await loadOwn(call, join(own, `${name}.md`))) ??
    (toolsDir === undefined ? undefined : loadShared(join(toolsDir, `${name}.md`))) ??
    (await findByName(call, own, name)) ??
    (toolsDir === undefined ? undefined : findShared(toolsDir, name));
  if (found !== undefined) return found;
  const { tools } = readRegistry(home);
  const uri = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (uri === undefined) return missing(name, Object.keys(tools));
  const path = pathOfUri(uri);
  if (path === undefined) return await loadPage(call, placeOf(call, uri)); // linked: fetched anew each time
  return (await loadOwn(call, path)) ?? missing(name, Object.keys(tools));
}

function missing(name: string, installed: readonly string[]): Failure {
  return fail(
    'NOT_FOUND',
    `Tool not found: ${name}`,
    `Installed: ${installed.length === 0 ? '(none)' : installed.join(', ')}`,
  );
}

/** Undefined when there is none; what else is wrong with it is told. */
async function loadOwn({ runtime, signal }: Caller, path: string): Promise<LoadedPage | Failure | undefined> {
  const loaded = await loadPath(runtime, path, signal);
  if (!loaded.ok) return loaded.code === 'NOT_FOUND' ? undefined : loaded;
  return 'directory' in loaded ? undefined : loaded;
}

async function findByName(call: Caller, folder: string, name: string): Promise<LoadedPage | undefined> {
  for (const file of documentsIn(folder)) {
    const loaded = await loadOwn(call, join(folder, file));
    if (loaded?.ok === true && loaded.page.frontmatter.name === name) return loaded;
  }
  return undefined;
}

function findShared(folder: string, name: string): LoadedPage | undefined {
  return documentsIn(folder)
    .map((file) => loadShared(join(folder, file)))
    .find((loaded) => loaded?.page.frontmatter.name === name);
}

/** Of a folder, by their names. */
export function documentsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .sort()
      .slice(0, MAX_TOOLS_SEARCHED);
  } catch {
    return []; // no such folder
  }
}
