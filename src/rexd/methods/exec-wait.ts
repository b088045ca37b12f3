// exec.wait: how a process ended, or that it runs.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { findProcess } from '../exec/find-process.js';
import type { ExecWait } from '../protocol/exec.js';

export async function waitForExec(
  params: ParamsOf<typeof ExecWait>,
  ctx: CallContext,
): Promise<ResultOf<typeof ExecWait>> {
  const session = ctx.sessions.get(params.session_id);
  const process = findProcess(ctx, session, params.process_id);
  if (params.timeout_ms !== 0) await process.wait(session.timeoutMs(params.timeout_ms), ctx.signal);
  return {
    ...process.state(),
    timed_out: process.timedOut,
    output_limit_exceeded: process.outputLimitExceeded,
    duration_ms: process.durationMs,
  };
}
