// Making a directory inside the roots.

import { mkdirSync } from 'node:fs';
import { AlreadyExistsError, typedError } from './errors.js';
import { cleanPath } from './names.js';
import { locate } from './place.js';
import { syncDirectory } from './put-bytes.js';
import type { RootSet } from './root-set.js';
import { NEW_DIRECTORY_MODE, pinDirectory } from './walk.js';

export interface MakeDirectoryOptions {
  /** Make what is missing above it, and be content if it is there already. */
  readonly parents?: boolean;
  /** On the disk before the promise resolves. Default true. */
  readonly durable?: boolean;
}

export async function makeDirectory(
  set: RootSet,
  path: string,
  options: MakeDirectoryOptions = {},
): Promise<{ readonly path: string; readonly created: boolean }> {
  const asked = cleanPath(path);
  const durable = options.durable !== false;
  try {
    if (options.parents === true) {
      const create = { made: 0 };
      using directory = pinDirectory(set, asked, { create });
      if (durable && create.made > 0) await syncDirectory(directory, create.made);
      return { path: asked, created: create.made > 0 };
    }
    if (set.roots.includes(asked)) throw new AlreadyExistsError(asked);
    using place = locate(set, asked);
    mkdirSync(place.path, NEW_DIRECTORY_MODE);
    if (durable) await syncDirectory(place.parent, 0);
    return { path: asked, created: true };
  } catch (error) {
    throw typedError(error, asked);
  }
}
