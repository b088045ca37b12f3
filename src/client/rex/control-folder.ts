// Where shared ssh connections have their sockets: a folder that is the user's alone, with a path short enough.

import { homedir } from 'node:os';
import { join } from 'node:path';
import { isPrivateFolder } from './private-folder.js';

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
    // As the XDG specification has it: a value that is empty or relative is no value.
    runtime?.startsWith('/') === true ? join(runtime, 'rex-ssh') : undefined,
    cache?.startsWith('/') === true ? join(cache, 'rex-ssh') : join(home, '.cache', 'rex-ssh'),
    `/tmp/rex-ssh-${uid}`,
  ].find((folder) => folder !== undefined && isShort(folder) && isPrivateFolder(folder, uid));
}

function isShort(folder: string): boolean {
  // A "%" would be read by ssh as the beginning of something else.
  return Buffer.byteLength(folder) <= MAX_CONTROL_FOLDER_BYTES && /^\/[^%\s"\\]*$/.test(folder);
}
