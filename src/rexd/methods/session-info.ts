// session.info: the state of a session.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import type { SessionInfo } from '../protocol/session.js';

export function describeSession(
  params: ParamsOf<typeof SessionInfo>,
  ctx: CallContext,
): ResultOf<typeof SessionInfo> {
  const { sandbox } = ctx.server;
  const session = ctx.sessions.get(params.session_id);
  return {
    session_id: session.id,
    cwd: session.cwd,
    workspace_roots: [...session.roots.shown],
    running_processes: session.processes.running,
    limits: session.limits.toJSON(),
    ...(ctx.compression !== undefined && { compression: ctx.compression.state }),
    sandbox: { active: sandbox !== undefined, network: sandbox?.rules.network ?? true },
  };
}
