// fs.list: the entries of a folder, or of the whole tree below it.

import { listDirectory, type ListResult } from '../../host/files/list.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { MAX_UNASKED_ANSWER_BYTES, takeFitting } from '../fs/answer-size.js';
import { fileCall } from '../fs/file-call.js';
import type { FsList } from '../protocol/fs.js';

export async function listFolder(
  params: ParamsOf<typeof FsList>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsList>> {
  return await fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) => {
    const path = resolve(params.path);
    const asked = params.max_entries !== undefined && params.max_entries > 0 ? params.max_entries : undefined;
    const listed = await listDirectory(roots, path, {
      recursive: params.recursive,
      gitignore: params.gitignore,
      maxEntries: asked ?? mostThatFit(path),
      signal,
    });
    const entries = listed.entries.map(describe);
    const given = asked === undefined ? takeFitting(entries) : entries;
    return {
      path: listed.path,
      entries: given,
      truncated: listed.truncated || given.length < entries.length,
    };
  });
}

type Entry = ResultOf<typeof FsList>['entries'][number];

function describe({ name, path, type, size, mtimeMs }: ListResult['entries'][number]): Entry {
  return { name, path, type, size: size ?? null, mtime: mtimeMs ?? null };
}

/** No more can fit, however short their names: a walk that ends there is spared what would be thrown away. */
function mostThatFit(path: string): number {
  const least: Entry = { name: 'n', path: `${path}/n`, type: 'dir', size: null, mtime: null };
  return Math.ceil(MAX_UNASKED_ANSWER_BYTES / Buffer.byteLength(JSON.stringify(least)));
}
