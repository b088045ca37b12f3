// Where rex keeps what it knows of targets: the shared list, its own settings, and what was last used.

import { homedir } from 'node:os';
import { join } from 'node:path';

export interface TargetPlaces {
  /** Shared with other clients of REXD. */
  readonly targets: string;
  /** Ours: folders of this machine that belong to a target. */
  readonly settings: string;
  /** Ours: the target that was chosen with `use`. */
  readonly state: string;
}

export function targetPlaces(env: NodeJS.ProcessEnv): TargetPlaces {
  const config = xdg(env, 'XDG_CONFIG_HOME', '.config');
  const named = env['REXD_TARGETS_FILE'];
  return {
    targets: named === undefined || named === '' ? join(config, 'rexd/targets.json') : named,
    settings: join(config, 'rexd/rex.json'),
    state: join(xdg(env, 'XDG_STATE_HOME', '.local/state'), 'rex/state.json'),
  };
}

/** As the XDG specification has it: a value that is empty or relative is no value. */
function xdg(env: NodeJS.ProcessEnv, name: string, otherwise: string): string {
  const given = env[name];
  return given?.startsWith('/') === true ? given : join(env['HOME'] ?? homedir(), otherwise);
}
