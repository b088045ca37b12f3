// Whether a package is still what was installed: what it may run was agreed to then.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from '../../host/files/is-inside.js';
import { type Failure, fail } from '../result.js';
import { hashOf, MAX_PACKAGE_BYTES } from './package-files.js';
import { folderOfPackage, readMeta } from './package-store.js';

/** Files whose sha256 is remembered as long as nobody has touched them. */
export const MAX_KNOWN_HASHES = 5000;

/** What no program takes for code; an app may keep its records in such a file. */
const DATA = /\.(?:txt|csv|tsv|log|db|sqlite3?|png|jpe?g|gif|webp|svg|pdf)$/iu;

interface KnownHash {
  readonly state: string;
  readonly hash: string;
}

/** So long ago a change has to be for its time to tell it from the next one. */
const SETTLED_MS = 1000;

const hashes = new Map<string, KnownHash>();

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
    } else if (!DATA.test(path) && (await hashOfFile(file)) !== hash) return path;
  }
  return undefined;
}

/** By its inode, its size and the time of its last change, which no program can set back. */
async function hashOfFile(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile() || stat.size > MAX_PACKAGE_BYTES) return '';
    const { ino, dev, size, ctimeNs, ctimeMs } = stat;
    const state = `${dev}:${ino}:${size}:${ctimeNs}`;
    const known = hashes.get(path);
    if (known?.state === state) return known.hash;
    const hash = hashOf(await file.readFile());
    if (hashes.size >= MAX_KNOWN_HASHES) hashes.clear();
    // Two changes within one tick of the kernel's clock look the same.
    if (Date.now() - Number(ctimeMs) > SETTLED_MS) hashes.set(path, { state, hash });
    return hash;
  } catch {
    return '';
  }
}
