// A target as one side of a copy, through its rexd.

import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { RpcError } from '../../base/errors.js';
import { openRemoteFile } from './copy-read.js';
import { type Attributes, CopyError, type CopySide, type EntryFacts, type Sealed } from './copy-side.js';
import type { RexClient } from './rex-client.js';

/** Entries of one folder; the server gives no more in one answer. */
export const MAX_FOLDER_ENTRIES = 100_000;
/** Links to links, before they are taken for a circle. */
const MAX_LINKS = 40;

export function remoteSide(client: RexClient, label: string): CopySide {
  const shown = (path: string): string => `${label}${path}`;
  const tell = (path: string) => (thrown: unknown) => {
    throw thrown instanceof RpcError ? refusalOf(shown(path), thrown) : thrown;
  };
  const look = async (path: string): Promise<EntryFacts | undefined> => {
    const found = await client.request('fs.stat', { path }).catch(tell(path));
    if (!found.exists) return undefined;
    return {
      type: found.type ?? 'other',
      size: found.size ?? 0,
      mtimeMs: found.mtime ?? 0,
      mode: parseModeText(found.mode),
      ...(found.symlink_target !== undefined && { linkTarget: found.symlink_target }),
    };
  };

  const hashOf = async (path: string, signal: AbortSignal): Promise<string> =>
    (await hashThere(client, path, signal)) ?? (await hashByReading(client, path, signal));

  const setAttributes = async (path: string, { mode, mtimeMs }: Attributes): Promise<boolean> => {
    const [modeSet, timeSet] = await Promise.all([
      mode === undefined || runs(client, ['chmod', octal(mode), '--', path]),
      runs(client, ['touch', '-m', '-d', touchTime(mtimeMs), '--', path]),
    ]);
    return modeSet && timeSet;
  };

  return {
    label,

    async stat(path, follow = false) {
      let at = path;
      for (let links = 0; links < MAX_LINKS; links++) {
        const found = await look(at);
        if (!follow || found?.linkTarget === undefined) return found;
        at = posix.resolve(posix.dirname(at), found.linkTarget);
      }
      throw new CopyError('refused', shown(path), 'its links lead in a circle');
    },

    async list(path) {
      const params = { path, max_entries: MAX_FOLDER_ENTRIES };
      const { entries, truncated } = await client.request('fs.list', params).catch(tell(path));
      if (truncated)
        throw new CopyError('too_many', shown(path), `more than ${entries.length} entries in one folder`);
      return entries.map(({ name }) => name);
    },

    async *read(path, offset, signal) {
      const { chunks } = await openRemoteFile(client, path, { offset, signal }).catch(tell(path));
      yield* chunks;
    },

    hash: hashOf,

    async makeFolder(path) {
      const found = await look(path);
      if (found === undefined) return (await client.request('fs.mkdir', { path }).catch(tell(path))).created;
      if (found.type === 'dir') return false;
      throw new CopyError('not_a_directory', shown(path), 'is in the way: it is no folder');
    },

    async makeLink(path, target) {
      await client.request('fs.remove', { path, missing_ok: true }).catch(tell(path));
      if (!(await runs(client, ['ln', '-s', '--', target, path])))
        throw new CopyError('refused', shown(path), 'a link cannot be made there');
    },

    async append(path, bytes, signal) {
      const params = { path, content: bytes.toString('base64'), encoding: 'base64', mode: 'append' } as const;
      await client.request('fs.write', params, { signal }).catch(tell(path));
    },

    setAttributes,

    async seal(path, attributes, signal) {
      const sealed = await sealThere(client, path, attributes, signal);
      if (sealed?.attributesKept === true) return sealed;
      const sha256 = sealed?.sha256 ?? (await hashOf(path, signal));
      return { sha256, attributesKept: await setAttributes(path, attributes) };
    },

    async move(from, to) {
      await client.request('fs.move', { from, to, overwrite: true }).catch(tell(to));
    },

    async remove(path) {
      await client.request('fs.remove', { path, missing_ok: true }).catch(tell(path));
    },
  };
}

/** $1 file, $2 mode or nothing, $3 time: one process of the server's instead of three, where a shell may run. */
const SEAL = '{ [ -z "$2" ] || chmod "$2" "$1"; } && touch -m -d "$3" "$1" && echo kept; sha256sum < "$1"';

/** Undefined where it cannot be done this way. */
async function sealThere(
  client: RexClient,
  path: string,
  { mode, mtimeMs }: Attributes,
  signal: AbortSignal,
): Promise<Sealed | undefined> {
  const file = path.startsWith('-') ? `./${path}` : path;
  const words = [file, mode === undefined ? '' : octal(mode), touchTime(mtimeMs)];
  const argv = ['sh', '-c', SEAL, 'rex', ...words];
  try {
    const { exitCode, stdout } = await client.run({ argv, timeout_ms: HASH_TIMEOUT_MS }, { signal });
    const printed = stdout.toString('latin1');
    const sha256 = /^([0-9a-f]{64}) /m.exec(printed)?.[1];
    if (exitCode !== 0 || sha256 === undefined) return undefined;
    return { sha256, attributesKept: printed.startsWith('kept\n') };
  } catch (thrown) {
    if (thrown instanceof RpcError) return undefined;
    throw thrown;
  }
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8);
}

function touchTime(mtimeMs: number): string {
  return `@${(mtimeMs / 1000).toFixed(3)}`;
}

/** By the program of the host, which has the bytes at hand; undefined where there is none, or it may not run. */
async function hashThere(client: RexClient, path: string, signal: AbortSignal): Promise<string | undefined> {
  for (const argv of [
    ['sha256sum', '-b', '--', path],
    ['shasum', '-a', '256', '-b', '--', path],
  ]) {
    try {
      const { exitCode, stdout } = await client.run({ argv, timeout_ms: HASH_TIMEOUT_MS }, { signal });
      const found = /^\\?([0-9a-f]{64}) /.exec(stdout.toString('latin1'))?.[1];
      if (exitCode === 0 && found !== undefined) return found;
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
    }
  }
  return undefined;
}

/** Enough for any file on a disk; a server that allows less cuts it, and then the file is read. */
const HASH_TIMEOUT_MS = 600_000;

async function hashByReading(client: RexClient, path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const { chunks } = await openRemoteFile(client, path, { signal });
  for await (const bytes of chunks) hash.update(bytes);
  return hash.digest('hex');
}

/** Whether it ran and did its work; a server whose policy forbids it has not failed the copy. */
async function runs(client: RexClient, argv: readonly string[]): Promise<boolean> {
  try {
    return (await client.run({ argv: [...argv] })).exitCode === 0;
  } catch (thrown) {
    if (thrown instanceof RpcError) return false;
    throw thrown;
  }
}

/** `-rwxr-xr-x` as a number. */
export function parseModeText(text: string | undefined): number | undefined {
  if (text === undefined || !/^.[-rwxsStT]{9}$/.test(text)) return undefined;
  return Array.from(text.slice(1)).reduce((mode, char) => mode * 2 + ('-ST'.includes(char) ? 0 : 1), 0);
}

interface RefusalFacts {
  readonly allowed_roots?: readonly string[];
  readonly errno?: string;
}

function refusalOf(shown: string, refusal: RpcError): CopyError {
  const { data, message } = refusal;
  const { errno, allowed_roots: roots } = (
    typeof data === 'object' && data !== null ? data : {}
  ) as RefusalFacts;
  if (errno === 'ENOSPC') return new CopyError('no_space', shown, 'the disk there is full', refusal);
  if (errno === 'EDQUOT')
    return new CopyError('no_space', shown, 'your share of the disk there is used up', refusal);
  const allowed = roots === undefined ? '' : ` (allowed there: ${roots.join(', ')})`;
  return new CopyError('refused', shown, `${message}${allowed}`, refusal);
}
