// fs.move: another name or another folder for a file or folder.

import { movePath } from '../../host/files/move.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fileCall } from '../fs/file-call.js';
import { makeParents } from '../fs/make-parents.js';
import type { FsMove } from '../protocol/fs.js';

export async function moveFile(
  params: ParamsOf<typeof FsMove>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsMove>> {
  return await fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) => {
    const [from, to] = [resolve(params.from), resolve(params.to)];
    if (params.mkdir_parents) await makeParents(roots, from, to);
    await movePath(roots, from, to, { overwrite: params.overwrite, signal });
    return { from, to };
  });
}
