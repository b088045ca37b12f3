// Puts a whole new file in the place of an old one: a reader sees the one or the other, also after a power cut.

import { open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { constants, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { keepOwnerAndMode } from '../files/put-bytes.js';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Nobody else's business until the owner says otherwise. */
export const PRIVATE_MODE = 0o600;

/** Resolves when the new content is on the disk. Mode and owner of a file that is there are kept. */
export async function replaceFile(path: string, data: Uint8Array): Promise<void> {
  const before = await statIfThere(path);
  const temporary = join(dirname(path), temporaryName(path));
  const file = await open(temporary, NEW_FILE, PRIVATE_MODE);
  try {
    try {
      await file.writeFile(data);
      if (before !== undefined) keepOwnerAndMode(file.fd, before);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Removes what was left by writers that were killed. To be called where nobody else can be writing. */
export async function removeTemporaries(path: string): Promise<void> {
  const prefix = temporaryPrefix(path);
  for (const name of await readdir(dirname(path)))
    if (name.startsWith(prefix)) await unlink(join(dirname(path), name)).catch(() => {});
}

function temporaryPrefix(path: string): string {
  return `.${basename(path)}.new-`;
}

function temporaryName(path: string): string {
  return temporaryPrefix(path) + newId('t');
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The new name is in the directory, and lost with it if that does not reach the disk. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await directory.sync();
  } catch (error) {
    if (errnoOf(error) !== 'EINVAL') throw error; // a file system that cannot, and does not need to
  } finally {
    await directory.close();
  }
}
