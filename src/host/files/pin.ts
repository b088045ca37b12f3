// A pin is an open handle on a place in the tree: whatever its path is made to mean later, the handle stays there.
//
// Node has no openat. On Linux `/proc/self/fd/N/name` is one: the kernel starts from the open directory N, not from
// its path. O_PATH opens nothing (no FIFO waits, no device wakes), it only holds the place, so that a pin can be
// taken first and judged afterwards.

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { errnoOf } from '../../base/errors.js';
import { type EntryType } from './errors.js';
import { FilesUnsupportedError, InvalidPathError } from './path-errors.js';
import { readLinkText, toSystemPath } from './names.js';
import type { Withheld } from './withheld.js';

const O_PATH = 0o10000000; // not among Node's constants; the same on every architecture Node runs on under Linux

export const HOLD = O_PATH;
export const HOLD_DIRECTORY = O_PATH | constants.O_DIRECTORY;
export const NO_FOLLOW = constants.O_NOFOLLOW;

export class Pin implements Disposable {
  readonly fd: number;
  /** Where it was when it was judged to be inside the roots. */
  readonly real: string;
  /** What is not to be seen from here. */
  readonly withheld: Withheld | undefined;
  #here: string | undefined;
  #open = true;

  constructor(fd: number, real: string, withheld: Withheld | undefined) {
    this.fd = fd;
    this.real = real;
    this.withheld = withheld;
  }

  /** The path of the thing itself, good for as long as the pin is held. */
  get here(): string {
    return (this.#here ??= descriptorPath(this.fd));
  }

  /** The path of an entry of this directory. It is the last name only: open it with O_NOFOLLOW. */
  at(name: string): string | Buffer {
    return toSystemPath(`${this.here}/${name}`);
  }

  stat(): Stats {
    return fstatSync(this.fd);
  }

  [Symbol.dispose](): void {
    if (!this.#open) return; // the number may long be someone else's
    this.#open = false;
    closeSync(this.fd);
  }
}

let descriptors: string | undefined;

/**
 * The kernel's own name of an open descriptor. By the number `/proc/self` stands for, not by that link: it is a third
 * of what looking at a file costs, and a process never changes its number.
 */
export function descriptorPath(fd: number): string {
  descriptors ??= `/proc/${ownNumber()}/fd/`;
  return descriptors + String(fd);
}

/** As this /proc counts: inside a container the number may be another than the process thinks. */
function ownNumber(): string {
  try {
    return readlinkSync('/proc/self');
  } catch {
    return 'self'; // no /proc: whoever uses the path finds out and says so
  }
}

/** Where the kernel says an open descriptor is. Not a path at all for pipes and the like. */
export function realPathOf(fd: number, asked: string): string {
  try {
    return readLinkText(descriptorPath(fd));
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') throw new InvalidPathError(asked, 'real path too long', error);
    throw new FilesUnsupportedError(asked, error);
  }
}

/** A removed file keeps its old path with this behind it; but a file may also be called so. */
export function isGone(fd: number, real: string): boolean {
  return real.endsWith(' (deleted)') && fstatSync(fd).nlink === 0;
}

/** The mount a descriptor lies on, undefined where the kernel does not say. */
export function mountIdOf(fd: number): string | undefined {
  if (kept?.fd !== fd) {
    const info = openSync(`/proc/self/fdinfo/${fd}`, constants.O_RDONLY);
    if (kept !== undefined) closeSync(kept.info);
    kept = { fd, info };
  }
  const text = scratch.toString('latin1', 0, readSync(kept.info, scratch, 0, scratch.length, 0));
  const at = text.indexOf(MOUNT_FIELD);
  return at === -1 ? undefined : text.slice(at + MOUNT_FIELD.length, text.indexOf('\n', at + 1)).trim();
}

/**
 * The kernel tells, at each read from the start, of whatever has that number then. One pin after the other mostly gets
 * the same number, and to open this costs more than all the rest of a check: so the last one stays open.
 */
let kept: { readonly fd: number; readonly info: number } | undefined;

const MOUNT_FIELD = '\nmnt_id:';
const scratch = Buffer.alloc(512);

export function typeOf(stat: Stats): EntryType {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'dir';
  return stat.isSymbolicLink() ? 'symlink' : 'other';
}
