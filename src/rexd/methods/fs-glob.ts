// fs.glob: the paths that match a pattern.

import { globPaths } from '../../host/files/glob.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { takeFitting } from '../fs/answer-size.js';
import { fileCall } from '../fs/file-call.js';
import type { FsGlob } from '../protocol/fs.js';

export async function globFiles(
  params: ParamsOf<typeof FsGlob>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsGlob>> {
  return await fileCall(params.session_id, ctx, async ({ roots, resolve, signal }) => {
    const asked = params.max_matches !== undefined && params.max_matches > 0 ? params.max_matches : undefined;
    const found = await globPaths(roots, resolve(params.cwd ?? '.'), params.pattern, {
      dot: params.dot,
      gitignore: params.gitignore,
      ...(asked !== undefined && { maxMatches: asked }),
      signal,
    });
    const matches = asked === undefined ? takeFitting(found.matches) : [...found.matches];
    return { matches, truncated: found.truncated || matches.length < found.matches.length };
  });
}
