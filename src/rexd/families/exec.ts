// exec.*, loaded by the first call: a session that only reads files does not pay for processes.

import type { Router } from '../../wire/jsonrpc/router.js';
import type { CallContext } from '../context.js';
import { inputExec } from '../methods/exec-input.js';
import { killExec } from '../methods/exec-kill.js';
import { listExec } from '../methods/exec-list.js';
import { readExec, waitToRead } from '../methods/exec-read.js';
import { startExec } from '../methods/exec-start.js';
import { waitForExec } from '../methods/exec-wait.js';
import { startPlainly } from '../protocol/start-plainly.js';
import { ExecInput, ExecKill, ExecList, ExecRead, ExecStart, ExecWait } from '../protocol/exec.js';

export function addExecMethods(router: Router<CallContext>): void {
  router
    .method(ExecStart, startExec, startPlainly)
    .method(ExecWait, waitForExec)
    .method(ExecKill, killExec)
    .method(ExecInput, inputExec)
    .method(ExecList, listExec)
    .method(ExecRead, async (params, ctx) => {
      // Apart from the turns of those who read: whoever waits for output takes none.
      if (params.wait_ms > 0) await waitToRead(params, ctx);
      return await ctx.reads.run(() => readExec(params, ctx));
    });
}
