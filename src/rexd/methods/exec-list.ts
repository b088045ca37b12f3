// exec.list: the processes of a session.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { listProcesses } from '../exec/find-process.js';
import type { ExecList } from '../protocol/exec.js';

export function listExec(params: ParamsOf<typeof ExecList>, ctx: CallContext): ResultOf<typeof ExecList> {
  const session = ctx.sessions.get(params.session_id);
  return {
    processes: listProcesses(ctx, session).map((process) => ({
      process_id: process.id,
      argv: [...process.argv],
      cwd: process.cwd,
      started_at: process.startedAt.toISOString(),
      detached: process.detached,
      pty: process.pty,
      ...process.state(),
    })),
  };
}
