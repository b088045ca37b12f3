// Whether a package is still what was installed: what it may run was agreed to then.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isInside } from '../../host/files/is-inside.js';
import { type Failure, fail } from '../result.js';
import { hashOf, MAIN } from './package-files.js';
import { folderOfPackage, readMeta } from './package-store.js';

/**
 * Undefined when it is, or was put there by hand. Looked at are its first page and the files that the command names: the
 * rest is not run by it.
 */
export async function refuseChanged(
  home: string,
  page: { readonly path: string; readonly source: string },
  command: string,
): Promise<Failure | undefined> {
  const [name = ''] = page.path.slice(join(home, 'packages').length + 1).split('/');
  const folder = folderOfPackage(home, name);
  const known = isInside(page.path, folder) ? (await readMeta(home, name))?.sha256 : undefined;
  if (known === undefined) return undefined;
  const own = page.path.slice(folder.length + 1);
  const changed = Object.entries(known).find(([path, hash]) => {
    if (path === own) return hashOf(page.source) !== hash;
    return (path === MAIN || command.includes(basename(path))) && hashOfFile(join(folder, path)) !== hash;
  });
  if (changed === undefined) return undefined;
  return fail(
    'POLICY_DENIED',
    `The package ${name} is not what was installed: ${changed[0]} has changed`,
    `To accept it as it is now: /install ~/packages/${name}`,
  );
}

function hashOfFile(path: string): string {
  try {
    return hashOf(readFileSync(path));
  } catch {
    return '';
  }
}
