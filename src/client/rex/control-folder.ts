// Where shared ssh connections have their sockets: a folder that is the user's alone, with a path short enough.

import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The name of a socket has 107 bytes. Of them ssh takes 40 for what it knows about a connection, 17 while the socket is
 * being made, and we take ten: a slash, a dash and eight digits.
 */
export const MAX_CONTROL_FOLDER_BYTES = 107 - 40 - 17 - 10;

export interface ControlPlaces {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  readonly uid?: number;
}

/** The first place that is ours, made if need be; undefined when there is none, and then nothing is shared. */
export function prepareControlFolder(places: ControlPlaces = {}): string | undefined {
  const { env = process.env, home = homedir(), uid = process.getuid?.() ?? -1 } = places;
  const { XDG_RUNTIME_DIR: runtime, XDG_CACHE_HOME: cache } = env;
  return [
    runtime === undefined || runtime === '' ? undefined : join(runtime, 'rex-ssh'),
    cache === undefined || cache === '' ? join(home, '.cache', 'rex-ssh') : join(cache, 'rex-ssh'),
    `/tmp/rex-ssh-${uid}`,
  ].find((folder) => folder !== undefined && isShort(folder) && isPrivate(folder, uid));
}

function isShort(folder: string): boolean {
  // A "%" would be read by ssh as the beginning of something else.
  return Buffer.byteLength(folder) <= MAX_CONTROL_FOLDER_BYTES && /^\/[^%\s"\\]*$/.test(folder);
}

/** Whoever can open a socket in there is logged in as the user. A folder or a link that others made is not used. */
function isPrivate(folder: string, uid: number): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    return stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
