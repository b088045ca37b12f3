// pty.close: the terminal ends, and what runs on it unless that is to decide for itself. Closing one that has ended already is no mistake: the end may have been on its way.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import type { PtyClose } from '../protocol/pty.js';
import { findPty } from '../pty/find-pty.js';

export async function closeTerminal(
  params: ParamsOf<typeof PtyClose>,
  ctx: CallContext,
): Promise<ResultOf<typeof PtyClose>> {
  const process = findPty(ctx.sessions.get(params.session_id), params.pty_id);
  if (params.kill) return { ok: await process.hangUp() };
  process.disconnect();
  return { ok: true };
}
