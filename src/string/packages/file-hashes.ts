// The sha256 of files, remembered as long as nobody has touched them.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { hashOf, MAX_PACKAGE_BYTES } from './package-files.js';

/** Of so many files; ten large packages. */
export const MAX_KNOWN_HASHES = 5000;

/** So long ago a change has to be for its time to tell it from the next one. */
const SETTLED_MS = 1000;

interface KnownHash {
  readonly state: string;
  readonly hash: string;
}

export class FileHashes {
  readonly #known = new Map<string, KnownHash>();
  readonly #max: number;

  constructor(max = MAX_KNOWN_HASHES) {
    this.#max = max;
  }

  get size(): number {
    return this.#known.size;
  }

  /** Known by its inode, its size and the time of its last change, which no program can set back. '' for what is no file. */
  async of(path: string): Promise<string> {
    try {
      await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const stat = await file.stat({ bigint: true });
      if (!stat.isFile() || stat.size > MAX_PACKAGE_BYTES) return '';
      const { ino, dev, size, ctimeNs, ctimeMs } = stat;
      const state = `${dev}:${ino}:${size}:${ctimeNs}`;
      const known = this.#known.get(path);
      if (known?.state === state) return known.hash;
      const hash = hashOf(await file.readFile());
      // Two changes within one tick of the kernel's clock look the same.
      if (Date.now() - Number(ctimeMs) > SETTLED_MS) this.#keep(path, { state, hash });
      return hash;
    } catch {
      return '';
    }
  }

  #keep(path: string, known: KnownHash): void {
    if (this.#known.size >= this.#max) this.#known.clear();
    this.#known.set(path, known);
  }
}
