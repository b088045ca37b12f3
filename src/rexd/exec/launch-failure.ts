// A program that could not be started: the error answer, and the event that tells the same of the same process_id.

import { RpcError } from '../../base/errors.js';
import type { LaunchError } from '../../host/process/launch-error.js';
import type { CallContext } from '../context.js';
import { toRexdError } from '../translate-error.js';
import type { Session } from '../sessions.js';

export interface FailedStart {
  readonly session: Session;
  readonly processId: string;
  /** As people know it; the one that was used is a descriptor of ours. */
  readonly shownCwd: string;
}

/** What to throw. The event follows the answer. */
export function launchFailed(thrown: LaunchError, failed: FailedStart, ctx: CallContext): Error {
  const error = toRexdError(thrown, failed.session.roots);
  if (!(error instanceof RpcError)) return error;
  const { code, message } = error;
  const data = { ...(error.data as object), cwd: failed.shownCwd, process_id: failed.processId };
  const params = { session_id: failed.session.id, process_id: failed.processId, code, message, data };
  ctx.afterReply(() => {
    void failed.session.sink(
      Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'exec.error', params })}\n`),
    );
  });
  return new RpcError(code, message, { data, cause: thrown });
}
