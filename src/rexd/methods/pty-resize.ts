// pty.resize: another size for a terminal.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import type { PtyResize } from '../protocol/pty.js';
import { findPty } from '../pty/find-pty.js';
import { toTerminalError } from '../pty/pty-errors.js';

export function resizeTerminal(
  params: ParamsOf<typeof PtyResize>,
  ctx: CallContext,
): ResultOf<typeof PtyResize> {
  const session = ctx.sessions.get(params.session_id);
  try {
    findPty(session, params.pty_id).resize({ cols: params.cols, rows: params.rows });
  } catch (thrown) {
    throw toTerminalError(thrown, params.pty_id, session.roots);
  }
  return { ok: true };
}
