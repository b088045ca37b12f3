// Where the keeper of a target is to be found, and what must be the same for its connections to be of use to a caller.
//
// Known without reading what the target is: a call that finds its keeper has nothing else to load.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../../base/version.js';
import { standardPlaces } from '../../../rexd/standard-places.js';
import { besideUs } from '../local-rexd.js';
import { privateFolder } from '../private-folder.js';
import { targetPlaces } from '../target/places.js';

export interface KeeperAddress {
  /** Where it listens. */
  readonly socket: string;
  /** All that its connections depend on: files by their time and size, variables by their value. Said to it alone. */
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
  'XDG_RUNTIME_DIR',
  'XDG_CACHE_HOME',
];
/** Of no consequence to a command that is given its folder, and different in every shell. */
const VOLATILE = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'COLUMNS', 'LINES', 'HAWSER_MARK']);

/** Undefined where no socket could be. */
export function keeperAddress(alias: string, env: NodeJS.ProcessEnv): KeeperAddress | undefined {
  const folder = privateFolder(env);
  if (folder === undefined) return undefined;
  const key = JSON.stringify([
    VERSION,
    alias,
    stampOf(process.argv[1] ?? ''),
    ...(alias === 'local'
      ? [...[besideUs(), ...standardPlaces(env)].map(stampOf), ownVariables(env)]
      : [stampOf(targetPlaces(env).targets), SSH_VARIABLES.map((name) => env[name] ?? null)]),
  ]);
  return { key, socket: join(folder, `${aliasInName(alias)}-${hash(key)}`) };
}

/** Whatever a target is called, its socket is in the folder. */
export function aliasInName(alias: string): string {
  return alias.slice(0, 16).replaceAll(/[^\w.-]/g, '_');
}

export function ownVariables(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(env)
    .filter(([name]) => !VOLATILE.has(name))
    .map(([name, value]) => `${name}=${value ?? ''}`)
    .toSorted();
}

function stampOf(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? null : `${file} ${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** It only has to tell sockets apart, the keeper compares the whole key. node:crypto takes 3 ms to load. */
function hash(text: string): string {
  const bytes = Buffer.from(`${text}   `);
  let [low, high] = [0x811c9dc5, bytes.length];
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const word = bytes.readInt32LE(at);
    low = Math.imul(low ^ word, 0x01000193);
    high = Math.imul((high ^ word) + (low >>> 15), 0x85ebca6b);
  }
  return [low, high].map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join('');
}
