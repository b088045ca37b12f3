// Where an installed app or tool has its document.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDirectory } from '../files/load-document.js';
import type { RuntimeParts } from '../command.js';
import { type Failure, fail } from '../result.js';
import { readRegistry } from './registry.js';

/** The address of an app; or that there is none, with those there are. */
export function findApp(
  { agent }: Pick<RuntimeParts, 'agent'>,
  name: string,
): { readonly uri: string; readonly ok: true } | Failure {
  const { apps } = readRegistry(agent.home);
  const uri = Object.hasOwn(apps, name) ? apps[name] : undefined;
  if (uri !== undefined) return { ok: true, uri: addressOf(uri) };
  return fail('NOT_FOUND', `App '${name}' is not installed.`, `Installed: ${listOf(Object.keys(apps))}`);
}

/** A file in the home's own tools comes before what is installed. */
export function findToolAddress(
  { agent, files }: Pick<RuntimeParts, 'agent' | 'files'>,
  name: string,
): { readonly uri: string; readonly ok: true } | Failure {
  const own = join(agent.home, 'tools', `${name}.md`);
  if (/^[\w-]+$/u.test(name) && isFile(files, own)) return { ok: true, uri: pathToFileURL(own).href };
  const { tools } = readRegistry(agent.home);
  const uri = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (uri !== undefined) return { ok: true, uri: addressOf(uri) };
  return fail('NOT_FOUND', `Tool '${name}' is not installed.`, `Installed: ${listOf(Object.keys(tools))}`);
}

/** Of what the registry says: an address, or a path. */
function addressOf(uri: string): string {
  return uri.startsWith('/') ? pathToFileURL(uri).href : uri;
}

function isFile(files: RuntimeParts['files'], path: string): boolean {
  try {
    return !isDirectory(files, path);
  } catch {
    return false;
  }
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? '(none)' : names.join(', ');
}
