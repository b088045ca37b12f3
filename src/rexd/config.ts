// rexd's configuration: found in its places, read when there is one, with a default for everything.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../base/errors.js';
import { LimitSet } from '../guard/limits.js';
import { policyOf } from './command-rules.js';
import { lineOfKey } from './config-line.js';
import { type PlainConfig, readPlainly } from './config-plain.js';
import { readSource } from './config-source.js';
import { REXD_LIMITS } from './limits.js';
import { ConfigError, DEFAULTS, type RexdConfig } from './settings.js';
import { standardPlaces } from './standard-places.js';

/**
 * The named file, which must exist; else the first of the standard places that does; else the defaults. For these, and for
 * a file that is written plainly, neither a parser nor a schema is loaded.
 */
export async function loadConfig(
  named: string | undefined,
  env: NodeJS.ProcessEnv,
  places: readonly string[] = standardPlaces(env),
): Promise<RexdConfig> {
  const file = named ?? places.find(isThere);
  if (file === undefined)
    return {
      ...DEFAULTS,
      limits: new LimitSet(REXD_LIMITS),
      policy: policyOf(DEFAULTS.security),
      file,
      lineOf: () => undefined,
    };
  const source = readSource(file);
  const plain = readPlainly(source);
  const limits = plain === undefined ? undefined : limitsOf(plain);
  if (plain !== undefined && limits !== undefined)
    return {
      ...plain.settings,
      limits,
      policy: policyOf(plain.settings.security),
      file,
      lineOf: (key) => lineOfKey(source, key),
    };
  const { readConfigFile } = await import('./config-file.js');
  return await readConfigFile(file, source);
}

/** Undefined where one is refused: whoever reads the file as a whole says why. */
function limitsOf({ limits }: PlainConfig): RexdConfig['limits'] | undefined {
  try {
    return new LimitSet(REXD_LIMITS, limits);
  } catch {
    return undefined;
  }
}

/** Where the user's detached processes are kept unless the configuration says otherwise. */
export function standardStateDir(env: NodeJS.ProcessEnv): string {
  const given = env['XDG_STATE_HOME'];
  return join(
    given?.startsWith('/') === true
      ? given
      : join(env['HOME'] ?? process.getBuiltinModule('node:os').homedir(), '.local/state'),
    'rexd',
  );
}

/** One that is there and cannot be reached may forbid what the defaults allow: it must not be taken for none. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOTDIR') return false;
    throw new ConfigError(file, `cannot be reached (${errnoOf(thrown)})`, thrown);
  }
}
