// Which target is meant. `local` needs no file, so nothing is read for it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import type { TargetChoice } from '../../client/rex/select-target.js';

const LOCAL = 'local';

export async function chooseTarget(
  explicit: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<TargetChoice> {
  if (explicit === LOCAL) return { alias: LOCAL, target: undefined, why: 'it was named' };
  const [{ selectTarget }, { parseTargets }] = await Promise.all([
    import('../../client/rex/select-target.js'),
    import('../../client/rex/target.js'),
  ]);
  const file = targetsFile(env);
  const source = readIfThere(file);
  const { targets } = source === undefined ? { targets: {} } : parseTargets(source, file);
  return selectTarget({ targets, explicit, cwd: process.cwd() });
}

function targetsFile(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] ?? process.getBuiltinModule('node:os').homedir();
  return env['REXD_TARGETS_FILE'] ?? join(home, '.config/rexd/targets.json');
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}
