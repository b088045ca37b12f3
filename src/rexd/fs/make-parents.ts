// The folders for what is moved or copied, made only when there is something to put there.

import { dirname } from 'node:path';
import { NotFoundError } from '../../host/files/errors.js';
import { InvalidPathError } from '../../host/files/path-errors.js';
import { makeDirectory } from '../../host/files/make-directory.js';
import { isInside } from '../../host/files/is-inside.js';
import type { RootSet } from '../../host/files/root-set.js';
import { statPath } from '../../host/files/stat.js';

/** A call that is refused has made nothing: what can be told before is told before. */
export async function makeParents(roots: RootSet, from: string, to: string): Promise<void> {
  if (!statPath(roots, from).exists) throw new NotFoundError(from);
  if (isInside(to, from)) throw new InvalidPathError(to, 'inside what it comes from');
  await makeDirectory(roots, dirname(to), { parents: true });
}
