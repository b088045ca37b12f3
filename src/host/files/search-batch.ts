// Files gathered until there is enough to search at once: a thread is not worth waking for every small one.

import type { Finder } from './search-query.js';
import { describeHit, type Found, type LineMatch } from './search-text.js';

/** Searched together; a larger file is searched alone. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_FILES = 1000;

const NOTHING: Found = { hits: [], passedBy: 0 };

export interface BatchLimits {
  readonly maxMatches: number;
  readonly maxPerFile: number;
  readonly context: number;
  readonly hasRoom: (match: LineMatch & { readonly path: string }) => boolean;
}

interface Taken {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

export class SearchBatch {
  readonly matches: (LineMatch & { readonly path: string })[] = [];
  filesSearched = 0;
  /** Lines too long for the pattern. */
  passedBy = 0;
  /** A file had more matches than are given of one. */
  isCapped = false;
  readonly #finder: Finder;
  readonly #limits: BatchLimits;
  #bytes = Buffer.allocUnsafe(BATCH_BYTES);
  #used = 0;
  #files: Taken[] = [];

  constructor(finder: Finder, limits: BatchLimits) {
    this.#finder = finder;
    this.#limits = limits;
  }

  /** Where the next file is to be read to; as much as was asked of `makeRoom`. */
  get room(): Buffer {
    return this.#bytes.subarray(this.#used);
  }

  async makeRoom(size: number): Promise<'matches' | 'room' | undefined> {
    if (size <= BATCH_BYTES - this.#used && this.#files.length < BATCH_FILES) return undefined;
    const end = await this.flush();
    if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(size);
    return end;
  }

  /** What was read to `room` is the content of this file. */
  take(path: string, length: number): void {
    this.#files.push({ path, from: this.#used, to: this.#used + length });
    this.#used += length;
    this.filesSearched += 1;
  }

  async flush(): Promise<'matches' | 'room' | undefined> {
    const files = this.#files;
    const bytes = this.#bytes.subarray(0, this.#used);
    if (files.length === 0) return undefined;
    const { maxMatches, maxPerFile } = this.#limits;
    // One more than there is room for, to know whether there is more.
    const most = Math.min(maxPerFile, maxMatches - this.matches.length) + 1;
    const found = await this.#finder(
      bytes,
      files.map(({ from, to }) => [from, to] as const),
      most,
    );
    const end = this.#note(bytes, files, found);
    this.#files = [];
    this.#used = 0;
    if (this.#bytes.length > BATCH_BYTES) this.#bytes = Buffer.allocUnsafe(BATCH_BYTES);
    return end;
  }

  #note(
    bytes: Buffer,
    files: readonly Taken[],
    found: Awaited<ReturnType<Finder>>,
  ): 'matches' | 'room' | undefined {
    const { maxMatches, maxPerFile, context, hasRoom } = this.#limits;
    for (const [i, { path, from, to }] of files.entries()) {
      const { hits, passedBy } = found[i] ?? NOTHING;
      this.passedBy += passedBy;
      for (const [count, hit] of hits.entries()) {
        if (count === maxPerFile) {
          this.isCapped = true;
          break;
        }
        if (this.matches.length === maxMatches) return 'matches';
        const match = { path, ...describeHit(bytes.subarray(from, to), hit, context) };
        if (!hasRoom(match)) return 'room';
        this.matches.push(match);
      }
    }
    return undefined;
  }
}
