// Where everything of hugind lies: one folder, by HUGIND_HOME, else XDG, else ~/.hugind.

import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export interface Home {
  readonly root: string;
  readonly configs: string;
  readonly agents: string;
  readonly models: string;
  readonly logs: string;
  /** What servers run, and where. */
  readonly run: string;
  /** Secrets, so nobody else's to read. */
  readonly settings: string;
}

export function findHome(env: NodeJS.ProcessEnv): Home {
  const root = rootOf(env);
  return {
    root,
    configs: join(root, 'configs'),
    agents: join(root, 'agents'),
    models: join(root, 'models'),
    logs: join(root, 'logs'),
    run: join(root, 'run'),
    settings: join(root, 'settings.yml'),
  };
}

function rootOf(env: NodeJS.ProcessEnv): string {
  const own = env['HUGIND_HOME'];
  if (own !== undefined && own !== '') return resolve(own);
  // A relative path is to be ignored, by the XDG specification.
  for (const name of ['XDG_CONFIG_HOME', 'XDG_DATA_HOME']) {
    const folder = env[name];
    if (folder !== undefined && isAbsolute(folder)) return join(folder, 'hugind');
  }
  return join(userHome(env), '.hugind');
}

export function userHome(env: NodeJS.ProcessEnv): string {
  const { HOME } = env;
  return HOME !== undefined && isAbsolute(HOME) ? HOME : homedir();
}
