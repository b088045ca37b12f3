// This machine as one side of a copy, through its own file system.

import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { errnoOf } from '../../base/errors.js';
import { type Attributes, CopyError, type CopySide, type EntryFacts } from './copy-side.js';

/** Of a file of this machine, at a time. */
export const LOCAL_CHUNK_BYTES = 1024 * 1024;

export const localSide: CopySide = {
  label: '',

  async stat(path, follow = false) {
    try {
      const found = follow ? await stat(path) : await lstat(path);
      return await describe(path, found);
    } catch (thrown) {
      if (['ENOENT', 'ENOTDIR'].includes(errnoOf(thrown) ?? '')) return undefined;
      throw thrown;
    }
  },

  async list(path) {
    return (await readdir(path, { encoding: 'buffer' })).map(nameOf);
  },

  read: readFrom,

  hash: hashOf,

  async makeFolder(path) {
    try {
      await mkdir(path);
      return true;
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST') throw thrown;
      if (!(await lstat(path)).isDirectory())
        throw new CopyError('not_a_directory', path, 'is in the way: it is no folder', thrown);
      return false;
    }
  },

  async makeLink(path, target) {
    await rm(path, { force: true }); // a folder in its place is not removed, and refuses the link
    await symlink(target, path);
  },

  async append(path, bytes) {
    const how = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
    await using file = await open(path, how, 0o600);
    await file.appendFile(bytes);
  },

  setAttributes,

  async seal(path, attributes, signal) {
    const sha256 = await hashOf(path, signal);
    return { sha256, attributesKept: await setAttributes(path, attributes) };
  },

  async move(from, to) {
    await rename(from, to);
  },

  async remove(path) {
    await unlink(path).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    });
  },
};

/** Of a name that is not UTF-8 every byte beyond ASCII is spelled apart: that it is one is all that is asked. */
function nameOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join('');
}

async function hashOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const bytes of readFrom(path, 0, signal)) hash.update(bytes);
  return hash.digest('hex');
}

async function setAttributes(path: string, { mode, mtimeMs }: Attributes): Promise<boolean> {
  {
    await using held = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    await held.sync();
  }
  if (mode !== undefined) await chmod(path, mode & 0o777);
  // In seconds a double is a little less than the millisecond it stands for, and what is less is cut off. Node takes a number
  // below 0 for "now", but not a Date before 1970.
  const time = mtimeMs < 0 ? new Date(mtimeMs) : (mtimeMs + 0.05) / 1000;
  await utimes(path, new Date(), time);
  return true;
}

async function* readFrom(path: string, offset: number, signal: AbortSignal): AsyncGenerator<Buffer, void> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  for (let at = offset; ; ) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(LOCAL_CHUNK_BYTES),
      0,
      LOCAL_CHUNK_BYTES,
      at,
    );
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function describe(path: string, found: Stats): Promise<EntryFacts> {
  const facts = { size: found.size, mtimeMs: Math.floor(found.mtimeMs), mode: found.mode & 0o777 };
  if (found.isSymbolicLink()) return { ...facts, type: 'symlink', linkTarget: await readlink(path) };
  return { ...facts, type: found.isFile() ? 'file' : found.isDirectory() ? 'dir' : 'other' };
}
