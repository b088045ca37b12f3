// Which version of a file the agent last saw, so that it does not write over what somebody else has written since.

/** Files whose version is remembered; the one that was longest not looked at goes first. */
export const MAX_SEEN_FILES = 1024;

interface Seen {
  readonly mtime: number;
  /** How many commands the agent had run by then. */
  readonly commands: number;
}

export class SeenFiles {
  readonly #seen = new Map<string, Seen>();
  #commands = 0;

  /** The agent has run a command, which may have changed any file. */
  ranCommand(): void {
    this.#commands += 1;
  }

  see(path: string, mtime: number): void {
    this.#seen.delete(path);
    this.#seen.set(path, { mtime, commands: this.#commands });
    if (this.#seen.size <= MAX_SEEN_FILES) return;
    for (const oldest of this.#seen.keys()) {
      this.#seen.delete(oldest);
      return;
    }
  }

  mtimeOf(path: string): number | undefined {
    return this.#seen.get(path)?.mtime;
  }

  /** A command of the agent's own may be what changed the file. */
  mayBeOwnChange(path: string): boolean {
    const seen = this.#seen.get(path);
    return seen !== undefined && seen.commands < this.#commands;
  }
}
