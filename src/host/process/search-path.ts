// Where a program is looked for.

import { delimiter } from 'node:path';

/** Where the system looks when there is no PATH at all. */
export const DEFAULT_PATH = '/usr/bin:/bin';

/**
 * The files a name may stand for, in the order they are tried; a name with a slash is a path already, and an empty
 * entry of the PATH is the working directory.
 */
export function placesOf(program: string, path: string = DEFAULT_PATH): string[] {
  if (program.includes('/')) return [program];
  return path.split(delimiter).map((folder) => `${folder === '' ? '.' : folder}/${program}`);
}
