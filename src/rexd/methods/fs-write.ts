// fs.write: replace, create or append one file.

import { writeFile } from '../../host/files/write.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { decodeBytes } from '../encoding.js';
import { expectationOf } from '../fs/expectation.js';
import { fileCall } from '../fs/file-call.js';
import type { FsWrite } from '../protocol/fs.js';

export async function writeToFile(
  params: ParamsOf<typeof FsWrite>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsWrite>> {
  return await fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) => {
    const written = await writeFile(
      roots,
      resolve(params.path),
      decodeBytes(params.content, params.encoding, 'content'),
      {
        mode: params.mode,
        mkdirParents: params.mkdir_parents,
        atomic: params.atomic,
        ...expectationOf(params),
        signal,
      },
    );
    return {
      path: written.path,
      bytes_written: written.bytesWritten,
      mtime: written.mtimeMs,
      created: written.created,
    };
  });
}
