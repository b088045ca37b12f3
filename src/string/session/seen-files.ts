// Which files a topic has read, and as what: nobody overwrites a file unseen.

export interface FileStamp {
  /** Whole milliseconds. */
  readonly mtimeMs: number;
  readonly size: number;
}

/** Of one topic; of more, those seen longest ago have to be read again. */
export const MAX_SEEN_FILES = 1000;

export class SeenFiles {
  readonly #stamps = new Map<string, FileStamp>();

  note(path: string, { mtimeMs, size }: FileStamp): void {
    this.#stamps.delete(path);
    this.#stamps.set(path, { mtimeMs: Math.floor(mtimeMs), size });
    if (this.#stamps.size <= MAX_SEEN_FILES) return;
    const [oldest = path] = this.#stamps.keys();
    this.#stamps.delete(oldest);
  }

  forget(path: string): void {
    this.#stamps.delete(path);
  }

  /** `never`: not in this topic. `changed`: it is another by now. */
  compare(path: string, now: FileStamp): 'same' | 'changed' | 'never' {
    const seen = this.#stamps.get(path);
    if (seen === undefined) return 'never';
    return seen.mtimeMs === Math.floor(now.mtimeMs) && seen.size === now.size ? 'same' : 'changed';
  }
}
