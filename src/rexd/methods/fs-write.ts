// fs.write: replace, create or append one file.

import { writeFile } from '../../host/files/write.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { withContent } from '../fs/content-room.js';
import { expectationOf } from '../fs/expectation.js';
import { fileCall } from '../fs/file-call.js';
import { inTurn } from '../fs/in-turn.js';
import type { FsWrite } from '../protocol/fs.js';

export async function writeToFile(
  params: ParamsOf<typeof FsWrite>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsWrite>> {
  return await fileCall(params.session_id, ctx, async (call) => {
    const path = call.resolve(params.path);
    const written = await withContent(params.content, params.encoding, 'content', (content) =>
      // In turn: two writes that are sent one after the other leave what the second wrote, and pieces are appended in order.
      inTurn([path], call, () =>
        writeFile(call.roots, path, content, {
          mode: params.mode,
          mkdirParents: params.mkdir_parents,
          atomic: params.atomic,
          ...expectationOf(params),
          signal: call.signal,
        }),
      ),
    );
    return {
      path: written.path,
      bytes_written: written.bytesWritten,
      mtime: written.mtimeMs,
      created: written.created,
    };
  });
}
