// fs.patch: several files changed together, or none of them.

import type { ParamsOf, ResultOf } from '../../wire/jsonrpc/method.js';
import type { CallContext } from '../context.js';
import { fileCall } from '../fs/file-call.js';
import { applyPlan } from '../fs/patch-apply.js';
import { inTurn } from '../fs/in-turn.js';
import { pathsOf, planPatch } from '../fs/patch-plan.js';
import { parsePatch } from '../fs/patch-text.js';
import type { FsPatch } from '../protocol/fs.js';

export async function patchFiles(
  params: ParamsOf<typeof FsPatch>,
  ctx: CallContext,
): Promise<ResultOf<typeof FsPatch>> {
  return await fileCall(params.session_id, ctx, async (call) => {
    const changes = parsePatch(params.patch_text);
    return await inTurn(pathsOf(changes, call, params.cwd), call, async () => {
      const { fates, report } = await planPatch(changes, call, params.cwd);
      await applyPlan(fates, call);
      const { moved, ...rest } = report;
      return { ...rest, ...(moved.length > 0 && { moved }) };
    });
  });
}
