// The file of a unix socket: private from its first moment, taken over only from the dead, removed only if ours.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, link, lstat, mkdtemp, rm, unlink } from 'node:fs/promises';
import { connect, createServer, type ListenOptions, type Server } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errnoOf, LocalError, toError } from '../../base/errors.js';

/** How long to wait while another process takes the same path over. */
export const TAKEOVER_MS = 2000;
const TAKEOVER_POLL_MS = 5;
/** `sun_path` of unix(7), less the byte that ends it. */
export const MAX_SOCKET_PATH_BYTES = 107;

const WHY_NO_SOCKET: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'it is no folder',
  EACCES: 'not allowed',
  EROFS: 'the file system is read-only',
};

export interface SocketPath {
  readonly path: string;
  /** Removes the file, unless someone else's has taken its place. */
  remove(): Promise<void>;
}

export class AddressInUseError extends LocalError {
  override readonly name = 'AddressInUseError';

  constructor(path: string) {
    super('address_in_use', `someone is listening on ${path} already`, { facts: { path } });
  }
}

/**
 * Makes `server` listen on `path`, mode 0600. It is bound in a private directory first and then linked to its place:
 * so nobody can connect before the mode is set, and a file that is there already is never overwritten.
 */
export async function claimSocketPath(path: string, server: Server): Promise<SocketPath> {
  assertPathFits(path);
  const nursery = await mkdtemp(join(dirname(path), '.s')).catch((thrown: unknown) => {
    const why = WHY_NO_SOCKET[errnoOf(thrown) ?? ''] ?? toError(thrown).message;
    throw new LocalError('no_socket', `no socket can be made in ${dirname(path)}: ${why}`, { cause: thrown });
  });
  const born = join(nursery, 's');
  try {
    assertPathFits(born);
    await listenOn(server, { path: born }); // a server that listens elsewhere is refused here, and goes on
    const ino = await publish(born, path).catch((thrown: unknown) => {
      server.close();
      throw thrown;
    });
    return { path, remove: () => removeIfOurs(path, ino) };
  } finally {
    await rm(nursery, { recursive: true, force: true });
  }
}

/** Gives the socket its mode and then its place; returns what it is known by there. */
async function publish(born: string, path: string): Promise<number> {
  await chmod(born, 0o600);
  const { ino } = await lstat(born);
  await linkInto(born, path);
  return ino;
}

async function linkInto(born: string, path: string): Promise<void> {
  if (await tryLink(born, path)) return;
  await withTakeoverLock(path, async () => {
    if (await answers(path)) throw new AddressInUseError(path);
    await unlink(path).catch(() => {});
    if (!(await tryLink(born, path))) throw new AddressInUseError(path); // a newcomer was faster
  });
}

async function tryLink(born: string, path: string): Promise<boolean> {
  try {
    await link(born, path);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/**
 * One taker at a time: between the look at a dead socket and its removal another could put a live one there. The lock
 * is a name in Linux's abstract socket namespace, which is gone with the process that holds it, however that ends.
 * Elsewhere there is no such thing, and two who take over in the same millisecond may both believe they have.
 */
async function withTakeoverLock(path: string, task: () => Promise<void>): Promise<void> {
  if (process.platform !== 'linux') return task();
  const name = createHash('sha256').update(resolve(path)).digest('hex');
  const lock = createServer((socket) => socket.destroy());
  const end = Date.now() + TAKEOVER_MS;
  while (!(await tryListen(lock, `\0hawser-takeover-${name}`))) {
    if (Date.now() > end) throw new AddressInUseError(path);
    await delay(TAKEOVER_POLL_MS);
  }
  try {
    await task();
  } finally {
    lock.close();
  }
}

async function tryListen(server: Server, path: string): Promise<boolean> {
  try {
    await listenOn(server, { path });
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EADDRINUSE') return false;
    throw thrown;
  }
}

/** Whether somebody listens there. Anything that is not a socket is not ours to remove. */
async function answers(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return false;
  if (!found.isSocket())
    throw new LocalError('not_a_socket', `${path} is there and is not a socket`, { facts: { path } });
  return new Promise((tell) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      tell(true);
    });
    // Refused: a socket that nobody listens on. Anything else (full backlog, no permission) counts as alive.
    probe.once('error', (error) => tell(errnoOf(error) !== 'ECONNREFUSED' && errnoOf(error) !== 'ENOENT'));
  });
}

async function removeIfOurs(path: string, ino: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found?.ino === ino) await unlink(path).catch(() => {});
}

/**
 * Those that wait to be let in; the system may allow fewer. A client of a unix socket that finds no place is refused at
 * once (EAGAIN), so a burst of them must have room while we are busy with something else.
 */
const BACKLOG = 4096;

export async function listenOn(
  server: Server,
  where: ListenOptions | { readonly fd: number },
): Promise<void> {
  server.listen({ ...where, backlog: BACKLOG });
  await once(server, 'listening'); // rejects on 'error', and leaves no listener behind either way
}

/** The system would cut a longer path short and use a file that nobody asked for. */
export function assertPathFits(path: string): void {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return;
  throw new LocalError('path_too_long', `a socket path has at most ${MAX_SOCKET_PATH_BYTES} bytes: ${path}`);
}
