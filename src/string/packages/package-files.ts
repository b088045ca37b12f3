// The files of a package while it is on its way: names, bytes, and whether they may be run.

import { createHash } from 'node:crypto';
import { refuse } from '../refused.js';

/** Of one package. */
export const MAX_PACKAGE_FILES = 500;
/** All of them together. */
export const MAX_PACKAGE_BYTES = 20 * 1024 * 1024;
/** Of one name with its folders. */
export const MAX_PACKAGE_PATH_CHARS = 200;

/** Every package begins with it. */
export const MAIN = 'string.md';

export interface PackageFile {
  readonly data: Buffer;
  readonly executable: boolean;
}

export class PackageFiles {
  readonly #files = new Map<string, PackageFile>();
  #bytes = 0;

  get size(): number {
    return this.#files.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  entries(): IterableIterator<[string, PackageFile]> {
    return this.#files.entries();
  }

  /** Throws RefusedError for a name that leads elsewhere, and when there are too many. */
  add(path: string, file: PackageFile): void {
    if (!isFitPath(path)) refuse('LOAD_ERROR', `Not a path inside of a package: ${JSON.stringify(path)}`);
    if (this.#files.has(path)) refuse('LOAD_ERROR', `The package has ${path} twice`);
    if (this.#files.size >= MAX_PACKAGE_FILES)
      refuse('LOAD_ERROR', `The package has more than ${MAX_PACKAGE_FILES} files`);
    this.#bytes += file.data.length;
    if (this.#bytes > MAX_PACKAGE_BYTES)
      refuse('LOAD_ERROR', `The package has more than ${MAX_PACKAGE_BYTES} bytes`);
    this.#files.set(path, file);
  }

  main(): string {
    const file = this.#files.get(MAIN);
    if (file === undefined) {
      const names = [...this.#files.keys()].slice(0, 20).join(', ');
      return refuse('LOAD_ERROR', `The package has no ${MAIN}`, `files: ${names === '' ? '(none)' : names}`);
    }
    if (file.data.includes(0)) refuse('LOAD_ERROR', `${MAIN} is not text`);
    return file.data.toString('utf8');
  }

  hashes(): Record<string, string> {
    return Object.fromEntries([...this.#files].map(([path, { data }]) => [path, hashOf(data)]));
  }
}

export function hashOf(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Relative, and it stays where it is. */
export function isFitPath(path: string): boolean {
  if (path === '' || path.length > MAX_PACKAGE_PATH_CHARS || /[\0\\\r\n]/u.test(path)) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
