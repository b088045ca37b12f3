// One holder at a time among all processes, also after a holder was killed.

import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { deadline } from '../../base/deadline.js';
import { errnoOf, LocalError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import { formatOwner, type LockOwner, lookForOwner, newOwner, parseOwner } from './lock-owner.js';

/** How long to wait for a lock: holders keep it for milliseconds, so after this one is stuck, and the caller should know. */
export const LOCK_TIMEOUT_MS = 10_000;
/** How often a holder shows that it lives, for those who cannot look it up. */
const HEARTBEAT_MS = 10_000;
/** After how much silence they take it for dead: several times the heartbeat, so that a slow disk does not kill it. */
export const SILENCE_MS = 60_000;
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 40;

export interface LockOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export class LockTimeoutError extends LocalError {
  override readonly name = 'LockTimeoutError';

  constructor(path: string, timeoutMs: number, holder: LockOwner | undefined) {
    super('lock_timeout', `${path} is locked${holder === undefined ? '' : ` by process ${holder.pid}`}`, {
      facts: { path, timeoutMs, pid: holder?.pid },
    });
  }
}

/**
 * Waits for the lock of `path`, which is the directory `<path>.lock`. Not to be asked for twice by one holder: the
 * second would wait for the first. Rejects with LockTimeoutError, or with the reason of `signal`.
 */
export async function lockFile(path: string, options: LockOptions = {}): Promise<FileLock> {
  const timeoutMs = options.timeoutMs ?? LOCK_TIMEOUT_MS;
  const directory = `${path}.lock`;
  using limit = deadline(timeoutMs, {
    reason: () => new LockTimeoutError(path, timeoutMs, listHolders(directory)[0]?.owner),
    ...(options.signal !== undefined && { also: [options.signal] }),
  });
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    limit.signal.throwIfAborted();
    const lock = tryLock(directory);
    if (lock !== undefined) return lock;
    // Uneven pauses, so that those who wait do not come all at once.
    await delay(pauseMs * (0.5 + Math.random()), undefined, { signal: limit.signal }).catch(() => {});
  }
}

/** Who has the lock of `path`, and whether that process lives; undefined when nobody has it. Nothing is changed. */
export function findLockHolder(
  path: string,
): { readonly pid: number; readonly state: 'alive' | 'gone' | 'unknown' } | undefined {
  const owner = listHolders(`${path}.lock`)[0]?.owner;
  return owner === undefined ? undefined : { pid: owner.pid, state: lookForOwner(owner) };
}

export async function withFileLock<T>(
  path: string,
  task: () => Promise<T>,
  options?: LockOptions,
): Promise<T> {
  const lock = await lockFile(path, options);
  try {
    return await task();
  } finally {
    await lock.close();
  }
}

export class FileLock extends Resource {
  readonly #directory: string;
  readonly #entry: string;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(directory: string, name: string) {
    super();
    this.#directory = directory;
    this.#entry = join(directory, name);
    this.#heartbeat = setInterval(() => showLife(this.#entry), HEARTBEAT_MS).unref();
  }

  protected async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    rmSync(this.#entry, { force: true });
    removeIfEmpty(this.#directory); // fails when the next holder is there already, as it should
  }
}

/**
 * A lock is a directory with one entry, its holder's name. It comes into place with the entry in it, by a rename, and the
 * file system refuses to put it over a directory that is not empty: that is the whole arbitration. Giving it up,
 * or taking it from the dead, is the removal of exactly that entry, which cannot hit a later holder.
 */
function tryLock(directory: string): FileLock | undefined {
  if (isHeld(directory)) return undefined;
  const name = formatOwner(newOwner());
  const own = `${directory}.${name}`;
  mkdirSync(own, { mode: 0o700 });
  try {
    writeFileSync(join(own, name), '', { mode: 0o600, flag: 'wx' });
    renameSync(own, directory);
    return new FileLock(directory, name);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

function isHeld(directory: string): boolean {
  const holders = listHolders(directory);
  const dead = holders.filter((holder) => isGone(directory, holder));
  for (const { name } of dead) rmSync(join(directory, name), { force: true });
  if (dead.length > 0) sweep(directory);
  return holders.length > dead.length;
}

interface Holder {
  readonly name: string;
  /** Undefined for a file that is none of ours; nobody but its maker can say what it means. */
  readonly owner: LockOwner | undefined;
}

function listHolders(directory: string): Holder[] {
  try {
    return readdirSync(directory).map((name) => ({ name, owner: parseOwner(name) }));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function isGone(directory: string, { name, owner }: Holder): boolean {
  if (owner === undefined) return false;
  const found = lookForOwner(owner);
  return found === 'unknown' ? isSilent(directory, name) : found === 'gone';
}

/** Compared with a directory made now, not with our clock: the disk may be another machine's. */
function isSilent(directory: string, name: string): boolean {
  const probe = `${directory}.${formatOwner(newOwner())}`;
  try {
    mkdirSync(probe, { mode: 0o700 });
    return statSync(probe).mtimeMs - statSync(join(directory, name)).mtimeMs > SILENCE_MS;
  } catch {
    return false; // it has just been given up, or we may not write here
  } finally {
    removeIfEmpty(probe);
  }
}

/** Whoever was killed while it tried to lock has left a directory; where one died there may be more. */
function sweep(directory: string): void {
  const prefix = `${basename(directory)}.`;
  for (const name of readdirSync(dirname(directory))) {
    if (!name.startsWith(prefix)) continue;
    const owner = parseOwner(name.slice(prefix.length));
    if (owner !== undefined && lookForOwner(owner) === 'gone')
      rmSync(join(dirname(directory), name), { recursive: true, force: true });
  }
}

/** A byte written, so that the time comes from the disk; `r+`, so that a lock taken away does not come back. */
function showLife(entry: string): void {
  try {
    writeFileSync(entry, '.', { flag: 'r+' });
  } catch {
    // Somebody took it away by force; there is nothing to keep alive.
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // There is the next one in it, or it is gone already.
  }
}
