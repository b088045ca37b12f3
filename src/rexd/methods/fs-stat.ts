// fs.stat: what is at a path.

import { statPath } from '../../host/files/stat.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fileCallAtOnce } from '../fs/file-call.js';
import { modeText } from '../fs/mode-text.js';
import type { FsStat } from '../protocol/fs.js';

export function statFile(params: ParamsOf<typeof FsStat>, ctx: CallContext): ResultOf<typeof FsStat> {
  return fileCallAtOnce(params.session_id, ctx, ({ roots, resolve }) => {
    const found = statPath(roots, resolve(params.path));
    if (!found.exists) return { path: found.path, exists: false };
    const { path, type, size, mtimeMs, mode, uid, gid, symlinkTarget } = found;
    return {
      path,
      exists: true,
      type,
      size,
      mtime: mtimeMs,
      mode: modeText(type, mode),
      uid,
      gid,
      ...(symlinkTarget !== undefined && { symlink_target: symlinkTarget }),
    };
  });
}
