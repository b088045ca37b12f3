// session.open: a scope with its own roots and limits.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import { agreeOnCompression } from '../compression.js';
import type { CallContext } from '../context.js';
import { describeSession, grantSession } from '../grant-session.js';
import type { SessionOpen } from '../protocol/session-open.js';
import type { SessionFacts } from '../sessions.js';

export function openSession(
  params: ParamsOf<typeof SessionOpen>,
  ctx: CallContext,
): ResultOf<typeof SessionOpen> | Promise<ResultOf<typeof SessionOpen>> {
  const facts = grantSession(params, ctx.server);
  const { compression } = params;
  if (params.resumable === true) return openToResume(facts, params.resume_window_ms, ctx, compression);
  return {
    ...describeSession(ctx.sessions.open(facts), ctx.server),
    ...agreeOnCompression(compression, ctx.compression),
  };
}

async function openToResume(
  facts: SessionFacts,
  windowMs: number | undefined,
  ctx: CallContext,
  compression: ParamsOf<typeof SessionOpen>['compression'],
): Promise<ResultOf<typeof SessionOpen>> {
  const { openResumable } = await import('../resume/open-resumable.js');
  const session = await openResumable(facts, windowMs, ctx);
  const { resumption } = session;
  const opened = {
    ...describeSession(session, ctx.server),
    ...agreeOnCompression(compression, ctx.compression),
  };
  return resumption === undefined
    ? opened
    : { ...opened, resume: { token: resumption.token, window_ms: resumption.windowMs } };
}
