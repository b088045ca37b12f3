// session.close: the session and what it started end.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import type { SessionClose } from '../protocol/session.js';

export async function closeSession(
  params: ParamsOf<typeof SessionClose>,
  ctx: CallContext,
): Promise<ResultOf<typeof SessionClose>> {
  await ctx.sessions.end(params.session_id);
  return { ok: true };
}
