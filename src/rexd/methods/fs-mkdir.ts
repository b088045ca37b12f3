// fs.mkdir: a folder.

import { makeDirectory } from '../../host/files/make-directory.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fileCall } from '../fs/file-call.js';
import type { FsMkdir } from '../protocol/fs.js';

export async function makeFolder(
  params: ParamsOf<typeof FsMkdir>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsMkdir>> {
  return await fileCall(params.session_id, ctx, ({ roots, resolve }) =>
    makeDirectory(roots, resolve(params.path), { parents: params.parents }),
  );
}
