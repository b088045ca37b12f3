// One side of a copy: files of this machine or of a target, seen alike.

import { LocalError } from '../../base/errors.js';

export type EntryType = 'file' | 'dir' | 'symlink' | 'other';

export interface EntryFacts {
  readonly type: EntryType;
  readonly size: number;
  readonly mtimeMs: number;
  /** Permissions; undefined where the side does not tell. */
  readonly mode: number | undefined;
  readonly linkTarget?: string;
}

export interface Attributes {
  readonly mode?: number | undefined;
  readonly mtimeMs: number;
}

export interface Sealed {
  readonly sha256: string;
  readonly attributesKept: boolean;
}

export interface CopySide {
  /** `web:`, or nothing for this machine: goes before a path for people. */
  readonly label: string;
  /** Undefined when nothing is there. A link is told of, unless it is to be followed. */
  stat(path: string, follow?: boolean): Promise<EntryFacts | undefined>;
  /** Names in a folder. */
  list(path: string): Promise<readonly string[]>;
  read(path: string, offset: number, signal: AbortSignal): AsyncIterable<Buffer>;
  /** sha256 of the whole file, found where the file is when that can be done. */
  hash(path: string, signal: AbortSignal): Promise<string>;
  /** True when it was made. It may be there; a link or file in its place is refused. */
  makeFolder(path: string): Promise<boolean>;
  makeLink(path: string, target: string): Promise<void>;
  /** Bytes at the end of the file, which is made when it is not there. Never two at once for one file. */
  append(path: string, bytes: Buffer, signal: AbortSignal): Promise<void>;
  /** False when the side has no way to do it. */
  setAttributes(path: string, attributes: Attributes): Promise<boolean>;
  /** Both of the above at once, for a file that is complete. */
  seal(path: string, attributes: Attributes, signal: AbortSignal): Promise<Sealed>;
  /** Over what is there. */
  move(from: string, to: string): Promise<void>;
  /** Also when there is nothing. */
  remove(path: string): Promise<void>;
}

export class CopyError extends LocalError {
  override readonly name = 'CopyError';
  readonly path: string;

  constructor(code: string, path: string, why: string, cause?: unknown) {
    super(code, `${path}: ${why}`, { facts: { path }, cause });
    this.path = path;
  }
}

/** What a folder's listing may name: anything else could lead out of the folder that is copied to. */
export function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !name.includes('/') && !name.includes('\0');
}

/** Whether it stands for bytes that are not UTF-8: each of those is U+DCNN, as rexd spells them. */
export function isRawName(name: string): boolean {
  return /\p{Surrogate}/u.test(name);
}

/** Such a name for people: `bad\xffname`. */
export function showName(name: string): string {
  return name.replaceAll(/\p{Surrogate}/gu, (unit) => `\\x${(unit.charCodeAt(0) & 0xff).toString(16)}`);
}

export function joinPath(folder: string, name: string): string {
  return folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}
