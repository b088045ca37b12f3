// rexd's configuration: found in its places, read when there is one, with a default for everything.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { LocalError } from '../base/errors.js';
import type { LogLevel } from '../base/log.js';
import { LimitSet } from '../guard/limits.js';
import { REXD_LIMITS, type RexdLimit } from './limits.js';

export interface RexdSettings {
  readonly server: {
    readonly stdio: boolean;
    readonly log_level: LogLevel;
    readonly report_version: string;
  };
  readonly security: {
    readonly allow_shell: boolean;
    readonly allowed_roots: readonly { readonly path: string }[];
  };
  readonly audit: { readonly enabled: boolean; readonly path: string };
}

export interface RexdConfig extends RexdSettings {
  readonly limits: LimitSet<RexdLimit>;
  /** The file it came from; undefined when there is none and the defaults stand. */
  readonly file: string | undefined;
}

export const DEFAULTS: RexdSettings = {
  server: {
    stdio: true,
    log_level: 'info',
    // Clients that exist check for the version of the implementation they were written against; see the room's README.
    report_version: '0.1.5',
  },
  security: { allow_shell: true, allowed_roots: [] },
  audit: { enabled: false, path: '/var/log/rexd/audit.log' },
};

export class ConfigError extends LocalError {
  override readonly name = 'ConfigError';

  constructor(file: string, message: string, cause?: unknown) {
    super('bad_config', `${file}: ${message}`, { facts: { file }, cause });
  }
}

/**
 * The named file, which must exist; else the first of the standard places that does; else the defaults, for which
 * neither a parser nor a schema is loaded.
 */
export async function loadConfig(named: string | undefined, env: NodeJS.ProcessEnv): Promise<RexdConfig> {
  const file = named ?? standardPlaces(env).find((place) => existsSync(place));
  if (file === undefined) return { ...DEFAULTS, limits: new LimitSet(REXD_LIMITS), file };
  const { readConfigFile } = await import('./config-file.js');
  return readConfigFile(file);
}

/** Where a configuration is looked for when none is named: the user's, then the machine's. */
function standardPlaces(env: NodeJS.ProcessEnv): string[] {
  const home = env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config');
  return [join(home, 'rexd/config.toml'), '/etc/rexd/config.toml'];
}
