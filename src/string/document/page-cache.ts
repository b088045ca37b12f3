// Documents that were read a moment ago: most commands are about the page that is open, and most files have not changed.

import type { Page } from './page.js';

/** Documents kept for one agent. */
export const MAX_CACHED_PAGES = 64;
/** All of them together, in characters of their sources. */
export const MAX_CACHED_CHARS = 16 * 1024 * 1024;

export interface CachedPage {
  readonly page: Page;
  /** What was fetched, when the page was made of it: HTML, say. */
  readonly original?: string;
  /** The manifest that it is a file of. */
  readonly manifest?: string;
  /** It came from the public internet, and is fetched again from there only: names can be made to lead elsewhere. */
  readonly isPublic?: boolean;
  /** By it one can tell whether this is still what would be read: a file's times and sizes, an ETag. */
  readonly version: string;
}

export class PageCache {
  /** By address, the one used last at the end. */
  readonly #pages = new Map<string, CachedPage>();
  #chars = 0;

  get(uri: string): CachedPage | undefined {
    const found = this.#pages.get(uri);
    if (found === undefined) return undefined;
    this.#pages.delete(uri);
    this.#pages.set(uri, found);
    return found;
  }

  set(uri: string, cached: CachedPage): void {
    this.delete(uri);
    const chars = sizeOf(cached);
    if (chars > MAX_CACHED_CHARS) return;
    this.#pages.set(uri, cached);
    this.#chars += chars;
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_CACHED_PAGES && this.#chars <= MAX_CACHED_CHARS) return;
      this.delete(oldest);
    }
  }

  delete(uri: string): void {
    const found = this.#pages.get(uri);
    if (found === undefined) return;
    this.#pages.delete(uri);
    this.#chars -= sizeOf(found);
  }
}

function sizeOf({ page, original = '' }: CachedPage): number {
  return page.source.length + original.length;
}
