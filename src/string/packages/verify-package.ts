// Whether a package is still what was installed: what it may run was agreed to then.

import { join } from 'node:path';
import { isInside } from '../../host/files/is-inside.js';
import { type Failure, fail } from '../result.js';
import { FileHashes } from './file-hashes.js';
import { hashOf } from './package-files.js';
import { folderOfPackage, readMeta } from './package-store.js';

/** What no program takes for code; an app may keep its records in such a file. */
const DATA = /\.(?:txt|csv|tsv|log|db|sqlite3?|png|jpe?g|gif|webp|svg|pdf)$/iu;

const hashes = new FileHashes();

/**
 * Undefined when it is, or was put there by hand. All that can be read as code or as a page counts: a command may load
 * any of it. `page` is what was read already.
 */
export async function refuseChanged(
  home: string,
  page: { readonly path: string; readonly source: string },
): Promise<Failure | undefined> {
  const [name = ''] = page.path.slice(join(home, 'packages').length + 1).split('/');
  const folder = folderOfPackage(home, name);
  const known = isInside(page.path, folder) ? (await readMeta(home, name))?.sha256 : undefined;
  if (known === undefined) return undefined;
  const changed = await findChanged(known, folder, page);
  if (changed === undefined) return undefined;
  return fail(
    'POLICY_DENIED',
    `The package ${name} is not what was installed: ${changed} has changed`,
    `To accept it as it is now: /install ~/packages/${name}`,
  );
}

async function findChanged(
  known: Readonly<Record<string, string>>,
  folder: string,
  page: { readonly path: string; readonly source: string },
): Promise<string | undefined> {
  for (const [path, hash] of Object.entries(known)) {
    const file = join(folder, path);
    if (file === page.path) {
      if (hashOf(page.source) !== hash) return path;
    } else if (!DATA.test(path) && (await hashes.of(file)) !== hash) return path;
  }
  return undefined;
}
