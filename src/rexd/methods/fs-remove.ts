// fs.remove: a file, a link or a folder, gone.

import { NotFoundError } from '../../host/files/errors.js';
import { removePath } from '../../host/files/remove.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fileCall } from '../fs/file-call.js';
import type { FsRemove } from '../protocol/fs.js';

export async function removeFile(
  params: ParamsOf<typeof FsRemove>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsRemove>> {
  return await fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) => {
    const path = resolve(params.path);
    try {
      return await removePath(roots, path, { recursive: params.recursive, signal });
    } catch (thrown) {
      if (params.missing_ok && thrown instanceof NotFoundError) return { path, removed: 0 };
      throw thrown;
    }
  });
}
