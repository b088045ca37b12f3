// exec.kill: a signal for a process and all that descends from it.

import { parseSignal } from '../../host/process/signals.js';
import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { invalidParam } from '../errors.js';
import { findProcess } from '../exec/find-process.js';
import type { ExecKill } from '../protocol/exec.js';

export function killExec(params: ParamsOf<typeof ExecKill>, ctx: CallContext): ResultOf<typeof ExecKill> {
  const session = ctx.sessions.get(params.session_id);
  const process = findProcess(ctx, session, params.process_id);
  const signal = parseSignal(params.signal);
  if (signal === undefined)
    throw invalidParam('signal', 'no such signal; TERM, KILL, INT, HUP, … or a number');
  return { ok: process.kill(signal) };
}
