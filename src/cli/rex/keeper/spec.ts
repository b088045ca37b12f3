// What a kept connection is to: everything that must be the same for a later call to be able to use it.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../../base/version.js';
import type { RexParams } from '../../../client/rex/rex-methods.js';
import type { TargetChoice } from '../../../client/rex/select-target.js';
import { standardPlaces } from '../../../rexd/config.js';
import { privateFolder } from '../private-folder.js';

export interface KeeperSpec {
  readonly alias: string;
  /** Starts a rexd, here or through ssh. */
  readonly command: readonly string[];
  /** What a session is opened with. */
  readonly open: RexParams<'session.open'>;
  readonly remote: boolean;
  /** Where its keeper listens. */
  readonly socket: string;
  /** All of the above and what it depends on: files by their time and size, variables by their value. */
  readonly key: string;
}

/** Variables that ssh and the session it opens depend on. */
const SSH_VARIABLES = [
  'HOME',
  'USER',
  'PATH',
  'LANG',
  'SSH_AUTH_SOCK',
  'SSH_ASKPASS',
  'DISPLAY',
  'KRB5CCNAME',
];
/** Of no consequence to a command that is given its folder, and different in every shell. */
const VOLATILE = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'COLUMNS', 'LINES', 'HAWSER_MARK']);

/** Undefined where no socket could be. */
export function keeperSpec(
  { alias, target }: TargetChoice,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): KeeperSpec | undefined {
  const folder = privateFolder(env);
  if (folder === undefined) return undefined;
  const roots = target?.workspaceRoots ?? [];
  const open = {
    client_name: 'rex',
    client_version: VERSION,
    ...(roots.length > 0 && { workspace_roots: [...roots] }),
  };
  const remote = target !== undefined;
  const key = JSON.stringify([
    command,
    open,
    ...[process.argv[1] ?? '', ...command.filter((word) => word.endsWith('.js'))].map(stampOf),
    ...(remote ? [] : standardPlaces(env).map(stampOf)),
    remote ? SSH_VARIABLES.map((name) => env[name] ?? null) : ownVariables(env),
  ]);
  return { alias, command, open, remote, key, socket: join(folder, `${alias.slice(0, 16)}-${hash(key)}`) };
}

function ownVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env)
    .filter(([name]) => !VOLATILE.has(name))
    .map(([name, value]) => `${name}=${value ?? ''}`)
    .toSorted();
}

function stampOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? null : `${file} ${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** FNV-1a, twice: it only has to tell sockets apart, the keeper compares the whole key. node:crypto takes 3 ms to load. */
function hash(text: string): string {
  const [low, high] = [fnv(text, 0x811c9dc5), fnv(text, 0x01000193)];
  return low.toString(16).padStart(8, '0') + high.toString(16).padStart(8, '0');
}

function fnv(text: string, seed: number): number {
  let sum = seed;
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum >>> 0;
}
