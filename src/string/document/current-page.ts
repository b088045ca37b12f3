// The page that a topic shows, read again: files change under an agent's hands, most of all under its own.

import { noDocument } from '../commands/no-document.js';
import type { CommandCall } from '../commands/command.js';
import { pathOfUri } from '../files/agent-files.js';
import { type LoadedPage, loadPath } from '../files/load-document.js';
import { type Failure, fail } from '../result.js';

export type CurrentPage = LoadedPage;

/** `missing` is the answer when nothing is open. */
export async function currentPage(
  { session, runtime, signal }: Pick<CommandCall, 'session' | 'runtime' | 'signal'>,
  missing: Failure = noDocument(),
): Promise<CurrentPage | Failure> {
  if (session.document === undefined) return missing;
  const { uri } = session.document;
  const path = pathOfUri(uri);
  if (path === undefined) return fail('LOAD_ERROR', `Unsupported URI scheme: ${uri}`);
  const loaded = await loadPath(runtime, path, signal);
  if (!loaded.ok) return loaded;
  return 'directory' in loaded ? fail('NOT_FOUND', `File not found: ${path}`) : loaded;
}
