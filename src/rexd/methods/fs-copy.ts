// fs.copy: a second file or tree like the first.

import { copyPath } from '../../host/files/copy.js';
import { NotAFileError } from '../../host/files/errors.js';
import { statPath } from '../../host/files/stat.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fileCall } from '../fs/file-call.js';
import { makeParents } from '../fs/make-parents.js';
import type { FsCopy } from '../protocol/fs.js';

export async function copyFile(
  params: ParamsOf<typeof FsCopy>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsCopy>> {
  return await fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) => {
    const [from, to] = [resolve(params.from), resolve(params.to)];
    const source = statPath(roots, from);
    if (!params.recursive && source.exists && source.type === 'dir') throw new NotAFileError(from, 'dir');
    if (params.mkdir_parents) await makeParents(roots, from, to);
    const { entries } = await copyPath(roots, from, to, { overwrite: params.overwrite, signal });
    return { from, to, entries };
  });
}
