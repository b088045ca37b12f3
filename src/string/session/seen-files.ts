// Which files a topic has read, and as what: nobody overwrites a file unseen.

export interface FileStamp {
  /** Whole milliseconds. */
  readonly mtimeMs: number;
  readonly size: number;
}

/** Of one topic; of more, those seen longest ago have to be read again. */
export const MAX_SEEN_FILES = 1000;
/** Of those, the ones seen last, that the next daemon still knows of; they are written down with the topic. */
export const MAX_SAVED_SEEN_FILES = 100;

export type SeenState = readonly (readonly [path: string, mtimeMs: number, size: number])[];

export class SeenFiles {
  readonly #stamps = new Map<string, FileStamp>();
  readonly #changed: () => void;

  constructor(changed: () => void = () => {}, state: SeenState = []) {
    this.#changed = changed;
    for (const [path, mtimeMs, size] of state.slice(-MAX_SAVED_SEEN_FILES))
      this.#stamps.set(path, { mtimeMs, size });
  }

  /** Oldest first. */
  get state(): SeenState {
    return [...this.#stamps]
      .slice(-MAX_SAVED_SEEN_FILES)
      .map(([path, { mtimeMs, size }]) => [path, mtimeMs, size] as const);
  }

  note(path: string, stamp: FileStamp): void {
    const known = this.compare(path, stamp) === 'same';
    this.#stamps.delete(path);
    this.#stamps.set(path, { mtimeMs: Math.floor(stamp.mtimeMs), size: stamp.size });
    if (!known) this.#changed();
    if (this.#stamps.size <= MAX_SEEN_FILES) return;
    const [oldest = path] = this.#stamps.keys();
    this.#stamps.delete(oldest);
  }

  forget(path: string): void {
    if (this.#stamps.delete(path)) this.#changed();
  }

  /** `never`: not in this topic. `changed`: it is another by now. */
  compare(path: string, now: FileStamp): 'same' | 'changed' | 'never' {
    const seen = this.#stamps.get(path);
    if (seen === undefined) return 'never';
    return seen.mtimeMs === Math.floor(now.mtimeMs) && seen.size === now.size ? 'same' : 'changed';
  }
}
