// What a keeper keeps connections to.

import { VERSION } from '../../../base/version.js';
import type { CompressionMode } from '../../../client/rex/compression.js';
import type { RexParams } from '../../../client/rex/rex-methods.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { type KeeperAddress, keeperAddress } from './address.js';

export interface KeeperSpec extends KeeperAddress {
  readonly alias: string;
  /** Starts a rexd, here or through ssh. */
  readonly command: readonly string[];
  /** What a session is opened with. */
  readonly open: RexParams<'session.open'>;
  readonly remote: boolean;
  /** Of what goes between the keeper and the server; between a call and the keeper all is plain. */
  readonly compression: CompressionMode;
  /** The folder on the target in which a command runs that names none. */
  readonly cwd?: string;
}

/** Undefined where no socket could be. */
export function keeperSpec(
  { alias, target }: TargetChoice,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): KeeperSpec | undefined {
  const address = keeperAddress(alias, env);
  if (address === undefined) return undefined;
  const roots = target?.workspaceRoots ?? [];
  const open = {
    client_name: 'rex',
    client_version: VERSION,
    ...(roots.length > 0 && { workspace_roots: [...roots] }),
  };
  const cwd = target?.defaultCwd;
  return {
    alias,
    command,
    open,
    remote: target !== undefined,
    compression: target?.transport === 'ssh' ? (target.compression ?? 'auto') : 'off',
    ...(cwd !== undefined && { cwd }),
    ...address,
  };
}
