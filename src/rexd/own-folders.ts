// The folders that a server keeps for itself: no client touches them, whatever its roots are.

import { resolve } from 'node:path';
import { isInside } from '../host/files/is-inside.js';
import { Withheld } from '../host/files/withheld.js';
import { PRIVATE_NAME, PRIVATE_PLACES } from '../host/process/private-places.js';
import { standardStateDir } from './config.js';
import type { PreparedSandbox } from './prepare-sandbox.js';
import { type RexdConfig, TOKEN_FILE_VARIABLE } from './settings.js';

export function stateDirOf({ server }: Pick<RexdConfig, 'server'>, env: NodeJS.ProcessEnv): string {
  return server.state_dir ?? standardStateDir(env);
}

/** What detached processes are known by, and what servers keep in temporary folders: output, pipes. */
export function ownFolders(
  stateDir: string,
  config: Pick<RexdConfig, 'file' | 'audit' | 'server'>,
  env: NodeJS.ProcessEnv,
): Withheld {
  const { token_file, tls_key } = config.server;
  const secrets = [config.file, token_file, env[TOKEN_FILE_VARIABLE], tls_key]; // a configuration may have a token, too
  return new Withheld({
    folders: [stateDir],
    files: auditFiles(config.audit),
    secrets: secrets.flatMap((file) => (file === undefined || file === '' ? [] : [resolve(file)])),
    nameless: { places: PRIVATE_PLACES, name: PRIVATE_NAME },
  });
}

/** The log, what it is rotated to, and the lock of that: whoever is audited must not rewrite what is said of him. */
function auditFiles({ enabled, path, keep }: RexdConfig['audit']): string[] {
  if (!enabled) return [];
  return [path, `${path}.lock`, ...Array.from({ length: keep }, (_, i) => `${path}.${i + 1}`)];
}

/** The writable folder that holds the audit log, if one does: no client touches the log, but commands can. */
export function auditExposure(
  { audit }: Pick<RexdConfig, 'audit'>,
  { sandbox }: Pick<PreparedSandbox, 'sandbox'>,
  roots: readonly string[],
  own: Withheld,
): string | undefined {
  if (!audit.enabled) return undefined;
  return [...roots, ...(sandbox?.rules.readWrite ?? [])].find((path) =>
    own.files.some((file) => isInside(file, path)),
  );
}

/**
 * Why no process can be detached although the configuration allows it: what a command in the sandbox could make up about
 * detached processes, we would believe. It cannot see the folder; but it can put another in the place of one above it.
 */
export function detachProblem(
  { sandbox }: Pick<PreparedSandbox, 'sandbox'>,
  roots: readonly string[],
  own: Withheld,
): string | undefined {
  if (sandbox === undefined) return undefined;
  const place = [...roots, ...sandbox.rules.readWrite].find((path) =>
    own.folders.some((folder) => isInside(folder, path)),
  );
  return place === undefined
    ? undefined
    : `commands in the sandbox can write ${place}, where the state folder is; set server.state_dir to one elsewhere`;
}
