// fs.edit: a text in a file, replaced; the file as it was read is the file that is written, or nothing is.

import { createHash } from 'node:crypto';
import { ConflictError, NotFoundError } from '../../host/files/errors.js';
import { readFile } from '../../host/files/read.js';
import { MAX_WRITE_BYTES, writeFile, type WriteResult } from '../../host/files/write.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { expectationOf } from '../fs/expectation.js';
import { type FileCall, fileCall } from '../fs/file-call.js';
import { inTurn } from '../fs/in-turn.js';
import { replaceText } from '../fs/replace-text.js';
import { retryConflicts } from '../fs/retry-conflicts.js';
import type { FsEdit } from '../protocol/fs.js';

export async function editFile(
  params: ParamsOf<typeof FsEdit>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsEdit>> {
  return await fileCall(params.session_id, ctx, async (call) => {
    const path = call.resolve(params.path);
    return await inTurn([path], call, async () => {
      if (params.old_string !== '') return await editUntilKept(path, params, call);
      const content = Buffer.from(params.new_string);
      const written = await writeFile(call.roots, path, content, {
        mkdirParents: true,
        ...expectationOf(params),
        signal: call.signal,
      });
      return answer(written, 1);
    });
  });
}

/** Who names no version means whichever is there: if somebody writes meanwhile, the edit is made to what they wrote. */
async function editUntilKept(
  path: string,
  params: ParamsOf<typeof FsEdit>,
  call: FileCall,
): Promise<ResultOf<typeof FsEdit>> {
  const edit = (): Promise<ResultOf<typeof FsEdit>> => editContent(path, params, call);
  return await (expectationOf(params).expect === undefined ? retryConflicts(edit) : edit());
}

async function editContent(
  path: string,
  params: ParamsOf<typeof FsEdit>,
  { roots, signal }: FileCall,
): Promise<ResultOf<typeof FsEdit>> {
  const { expect } = expectationOf(params);
  const before = await readFile(roots, path, { whole: true, maxBytes: MAX_WRITE_BYTES, signal }).catch(
    (error: unknown) => {
      throw expect !== undefined && error instanceof NotFoundError
        ? new ConflictError(path, undefined)
        : error;
    },
  );
  const sha256 = createHash('sha256').update(before.data).digest('hex');
  const { mtimeMs, size } = before;
  // Told before the text is looked for: in another version it may well be missing, and that would be the wrong answer.
  if ((expect?.mtimeMs ?? mtimeMs) !== mtimeMs || (expect?.sha256 ?? sha256) !== sha256) {
    throw new ConflictError(path, { mtimeMs, size, sha256 });
  }
  const { content, replacements } = await replaceText(before.data, params.old_string, params.new_string, {
    all: params.replace_all,
    path,
    signal,
  });
  // What was read is what must still be there: an edit never undoes somebody else's.
  const written = await writeFile(roots, path, content, { expect: { ...expect, sha256 }, signal });
  return answer(written, replacements);
}

function answer(written: WriteResult, replacements: number): ResultOf<typeof FsEdit> {
  return {
    path: written.path,
    bytes_written: written.bytesWritten,
    mtime: written.mtimeMs,
    created: written.created,
    replacements,
  };
}
