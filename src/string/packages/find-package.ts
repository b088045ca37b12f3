// Where an installed app has its document.

import { pathToFileURL } from 'node:url';
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

/** Of what the registry says: an address, or a path. */
function addressOf(uri: string): string {
  return uri.startsWith('/') ? pathToFileURL(uri).href : uri;
}

function listOf(names: readonly string[]): string {
  return names.length === 0 ? '(none)' : names.join(', ');
}
