// The file behind the audit log: opened safely, rotated by size, shared with other processes.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf, LocalError, toError } from '../base/errors.js';
import { makeFolders } from '../host/make-folders.js';

const NEW_LINE = 0x0a;
/** Rotating takes a millisecond; a lock this old belongs to a process that died while it held it. */
const LOCK_STALE_MS = 10_000;

export class AuditFileError extends LocalError {
  override readonly name = 'AuditFileError';

  constructor(path: string, wrong: string, cause?: unknown) {
    super('audit_file', `audit log ${path}: ${wrong}`, { facts: { path }, cause });
  }
}

/** Longer than a batch takes to be written. */
const SETTLE_MS = 2;

export interface Prepared {
  readonly fd: number;
  readonly size: number;
  /** The file ends in the middle of a line: begin with a line feed. */
  readonly needsNewLine: boolean;
}

export interface AuditFileOptions {
  readonly path: string;
  /** A file that would grow past this becomes `path.1`. */
  readonly maxBytes: number;
  /** How many rotated files stay. */
  readonly keep: number;
}

/**
 * Several processes may append to the same file: every batch is one write in append mode, and before each one it is
 * checked that the path still leads to the open file and that the last byte there ends a line. All calls here are
 * synchronous and short; the bytes themselves are written by the caller.
 */
export class AuditFile {
  readonly #options: AuditFileOptions;
  readonly #onError: (error: Error) => void;
  #fd: number | undefined;
  /** In use by a write in another thread. Once closed, its number is the next one's who opens a file. */
  #held: number | undefined;
  #rotates = true;

  constructor(options: AuditFileOptions, onError: (error: Error) => void) {
    this.#options = options;
    this.#onError = onError;
  }

  get fd(): number | undefined {
    return this.#fd;
  }

  /** Makes ready for a batch of so many bytes. Throws when the file cannot be had. */
  prepare(bytes: number): Prepared {
    let fd = this.#current();
    let size = sizeOf(fd);
    if (size > 0 && size + bytes > this.#options.maxBytes && this.#tryRotate(fd)) {
      fd = this.#current();
      size = sizeOf(fd);
    }
    if (endsLine(fd, size)) return { fd, size, needsNewLine: false };
    // Another process may be in the middle of its write. If nothing moves, one has died there.
    pause(SETTLE_MS);
    const later = sizeOf(fd);
    return { fd, size: later, needsNewLine: later === size && !endsLine(fd, later) };
  }

  /** What has been appended to a file we gave out since it had `from` bytes, at most the last `max` of it. */
  readTail(fd: number, from: number, max: number): Buffer {
    const size = sizeOf(fd);
    const tail = Buffer.alloc(Math.min(max, Math.max(0, size - from)));
    return tail.subarray(0, readSync(fd, tail, 0, tail.length, size - tail.length));
  }

  /** Keeps this descriptor open until the hold is disposed, whatever is rotated meanwhile. One at a time. */
  hold(fd: number): Disposable {
    this.#held = fd;
    return {
      [Symbol.dispose]: () => {
        this.#held = undefined;
        if (fd !== this.#fd) closeSync(fd);
      },
    };
  }

  close(): void {
    if (this.#fd !== undefined && this.#fd !== this.#held) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** The open file, or a new one when somebody has renamed or removed it. */
  #current(): number {
    if (this.#fd !== undefined) {
      if (leadsTo(this.#options.path, this.#fd)) return this.#fd;
      this.close();
    }
    this.#fd = openSafely(this.#options.path);
    return this.#fd;
  }

  /** A log that cannot be rotated (the folder is read-only) is better than none: said once, then it grows. */
  #tryRotate(fd: number): boolean {
    try {
      const rotated = this.#rotate(fd);
      this.#rotates = true;
      return rotated;
    } catch (thrown) {
      if (this.#rotates)
        this.#onError(new AuditFileError(this.#options.path, 'cannot be rotated', toError(thrown)));
      this.#rotates = false;
      return false;
    }
  }

  /** False when another process is at it: then this one goes on with what there is. */
  #rotate(fd: number): boolean {
    const { path, keep } = this.#options;
    const lock = `${path}.lock`;
    if (!takeLock(lock)) return false;
    try {
      if (!leadsTo(path, fd)) return true; // another process has been at it
      for (let n = keep - 1; n >= 1; n--) renameIfThere(`${path}.${n}`, `${path}.${n + 1}`);
      renameSync(path, `${path}.1`);
      return true;
    } finally {
      unlinkSync(lock);
    }
  }
}

/** No symbolic link is followed, and what is there already must be ours and for us alone. */
function openSafely(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    makeFolders(dirname(path));
    fd = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    const wrong =
      errnoOf(error) === 'ELOOP' ? 'is a symbolic link' : `cannot be opened (${errnoOf(error) ?? 'unknown'})`;
    throw new AuditFileError(path, wrong, error);
  }
  try {
    secure(fd, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function secure(fd: number, path: string): void {
  const stat = fstatSync(fd);
  if (stat.isCharacterDevice()) return;
  if (!stat.isFile()) throw new AuditFileError(path, 'is not a file');
  if (stat.uid !== process.geteuid?.()) throw new AuditFileError(path, 'belongs to another user');
  if (stat.nlink > 1) throw new AuditFileError(path, 'has a second name (hard link)');
  if ((stat.mode & 0o077) !== 0) fchmodSync(fd, 0o600);
}

/** Waits without the event loop: for moments, where nothing else may happen in between. */
export function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function takeLock(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    const held = statOrUndefined(lock);
    if (held !== undefined && Date.now() - held.mtimeMs > LOCK_STALE_MS) unlinkSync(lock); // the next batch may take it
    return false;
  }
}

/** Only a file has a size that means anything; a device is always ready for a line. */
function sizeOf(fd: number): number {
  const stat = fstatSync(fd);
  return stat.isFile() ? stat.size : 0;
}

function endsLine(fd: number, size: number): boolean {
  const byte = Buffer.alloc(1);
  return size === 0 || (readSync(fd, byte, 0, 1, size - 1) === 1 && byte[0] === NEW_LINE);
}

function leadsTo(path: string, fd: number): boolean {
  const [there, open] = [statOrUndefined(path), fstatSync(fd)];
  return there !== undefined && there.ino === open.ino && there.dev === open.dev;
}

function renameIfThere(from: string, to: string): void {
  if (statOrUndefined(from) !== undefined) renameSync(from, to);
}

function statOrUndefined(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
