// rex exec without options, for who calls it often.

import { RexContext } from './context.js';
import { exec } from './exec.js';
import { leave } from './leave.js';
import type { Early } from './open-client.js';

export async function execAtOnce(
  target: string,
  argv: readonly string[],
  early: Early | undefined,
): Promise<void> {
  await leave(async () => {
    await using context = new RexContext({ keep: true }, argv, early);
    const code = await exec(context, [target], { env: [], envFrom: [], input: true });
    context.leaveIfDone(code);
    return code;
  });
}
