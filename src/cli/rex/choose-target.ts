// Which target is meant. `local` needs no file, so nothing is read for it.

import type { TargetChoice } from '../../client/rex/select-target.js';

const LOCAL = 'local';

export async function chooseTarget(
  explicit: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<TargetChoice> {
  if (explicit === LOCAL) return { alias: LOCAL, target: undefined, why: 'it was named' };
  const { chooseTarget } = await import('./target/choose-target.js');
  return await chooseTarget({ env, cwd: process.cwd(), explicit });
}
