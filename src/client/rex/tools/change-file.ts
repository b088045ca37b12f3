// write and edit: changes to a file that is still the one the agent has seen.

import type * as z from 'zod/mini';
import { RpcError } from '../../../base/errors.js';
import { type ToolContext, type ToolResult, textResult } from '../../../mcp/tool.js';
import type { Edit, Write } from './definitions.js';
import { resolvePath, type ToolHost } from './host.js';

const CONFLICT = -32006;

export async function writeText(
  args: z.output<typeof Write.input>,
  ctx: ToolContext,
  host: ToolHost,
): Promise<ToolResult> {
  const path = resolvePath(host, args.path);
  const mode = args.mode ?? 'replace';
  // Adding to a file takes nothing away from it.
  const known = mode === 'replace' ? expectation(host, path) : {};
  const written = await host.client.request(
    'fs.write',
    { path, content: args.content, mode, mkdir_parents: true, ...known },
    { signal: ctx.signal },
  );
  host.seen.see(path, written.mtime);
  const did = written.created ? 'Created' : mode === 'append' ? 'Added to' : 'Wrote';
  return textResult(`${did} ${args.path} (${written.bytes_written} bytes)`, {
    path: written.path,
    created: written.created,
    bytes_written: written.bytes_written,
  });
}

export async function editText(
  args: z.output<typeof Edit.input>,
  ctx: ToolContext,
  host: ToolHost,
): Promise<ToolResult> {
  const path = resolvePath(host, args.path);
  const { old_string, new_string, replace_all = false } = args;
  const edit = (known: { expected_mtime?: number }) =>
    host.client.request(
      'fs.edit',
      { path, old_string, new_string, replace_all, ...known },
      { signal: ctx.signal },
    );
  const edited = await edit(expectation(host, path)).catch((thrown: unknown) => {
    // Formatters and code generators that the agent itself has run are no strangers; and the text to be replaced has
    // to be there, once, in whatever is there now.
    if (isConflict(thrown) && host.seen.mayBeOwnChange(path)) return edit({});
    throw thrown;
  });
  host.seen.see(path, edited.mtime);
  const times = edited.replacements === 1 ? 'once' : `${edited.replacements} times`;
  return textResult(`Edited ${args.path} (replaced ${times})`, {
    path: edited.path,
    replacements: edited.replacements,
  });
}

function expectation(host: ToolHost, path: string): { expected_mtime?: number } {
  const mtime = host.seen.mtimeOf(path);
  return mtime === undefined ? {} : { expected_mtime: mtime };
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof RpcError && thrown.code === CONFLICT;
}
