// session.close: the session and what it started end.

import { INTERNAL_ERROR, LocalError, RpcError } from '../../base/errors.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import type { SessionClose } from '../protocol/session.js';

export async function closeSession(
  params: ParamsOf<typeof SessionClose>,
  ctx: Pick<CallContext, 'sessions'>,
): Promise<ResultOf<typeof SessionClose>> {
  try {
    await ctx.sessions.end(params.session_id);
  } catch (thrown) {
    const pids = survivorsOf(thrown);
    if (pids.length === 0) throw thrown;
    const message = `The session is closed, but not all of its programs could be ended: ${pids.join(', ')}`;
    throw new RpcError(INTERNAL_ERROR, message, { data: { pids }, cause: thrown });
  }
  return { ok: true };
}

/** Each once, however many have failed because of it. Known by its code: most sessions end without loading processes. */
function survivorsOf(thrown: unknown): number[] {
  const failures: unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown];
  const pids = failures.flatMap((failure) =>
    failure instanceof LocalError && failure.code === 'survivors' ? (failure.facts['pids'] as number[]) : [],
  );
  return [...new Set(pids)];
}
