// The document of an app, for a topic of that app in which nothing has been opened yet.

import type { CommandCall } from '../commands/command.js';
import { pathOfUri } from '../files/agent-files.js';
import { type LoadedPage, loadPath } from '../files/load-document.js';
import { readRegistry } from '../packages/registry.js';
import { type Failure, fail } from '../result.js';

export async function loadApp(
  { session, runtime, signal }: Omit<CommandCall, 'line'>,
  app: string,
): Promise<LoadedPage | Failure> {
  const uri = readRegistry(runtime.agent.home).apps[app];
  if (uri === undefined) return fail('NOT_FOUND', `App '${app}' is not installed.`);
  const path = pathOfUri(uri);
  if (path === undefined) return fail('LOAD_ERROR', `Unsupported URI scheme: ${uri}`);
  const loaded = await loadPath(runtime, path, signal);
  if (!loaded.ok) return loaded;
  if ('directory' in loaded) return fail('NOT_FOUND', `File not found: ${path}/string.md`);
  session.show({ uri: loaded.uri, title: loaded.page.title, block: null });
  return loaded;
}
