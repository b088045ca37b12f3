// A directory as text: folders first, then files, by name, without hidden ones.

import { NotADirectoryError, NotFoundError } from '../../host/files/errors.js';
import { listDirectory } from '../../host/files/list.js';
import { type Failure, fail } from '../result.js';
import type { AgentFiles } from './agent-files.js';
import { isDirectory } from './load-document.js';

/** Names shown of one directory; how many there are beside them is said. */
export const MAX_LISTED = 1000;

/** The rows, or why there are none. `asked` is how the agent called it. */
export async function describeDirectory(
  files: AgentFiles,
  path: string,
  options: { readonly asked: string; readonly signal: AbortSignal },
): Promise<string | Failure> {
  const { asked, signal } = options;
  try {
    const { entries } = await listDirectory(files.roots().files, path, { signal });
    const seen = entries.filter(({ name }) => !name.startsWith('.'));
    const isFolder = (entry: { readonly type: string; readonly name: string }): boolean =>
      entry.type === 'dir' || (entry.type === 'symlink' && leadsToDirectory(files, `${path}/${entry.name}`));
    const marked = seen
      .slice(0, MAX_LISTED * 2)
      .map((entry) => ({ name: entry.name, folder: isFolder(entry) }));
    const rows = [...marked.filter(({ folder }) => folder), ...marked.filter(({ folder }) => !folder)];
    if (rows.length === 0) return '  (empty)';
    const shown = rows.slice(0, MAX_LISTED).map(({ name, folder }) => `  ${name}${folder ? '/' : ''}`);
    if (seen.length > shown.length) shown.push(`  … and ${seen.length - shown.length} more`);
    return shown.join('\n');
  } catch (thrown) {
    if (thrown instanceof NotADirectoryError) return fail('INVALID_TARGET', `Not a directory: ${asked}`);
    if (thrown instanceof NotFoundError) return fail('NOT_FOUND', `Not found: ${asked}`);
    return files.explain(thrown, asked);
  }
}

/** One that leads out of what the agent may reach is a name like any other. */
function leadsToDirectory(files: AgentFiles, path: string): boolean {
  try {
    return isDirectory(files, path);
  } catch {
    return false;
  }
}
