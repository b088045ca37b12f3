// How much a process may still write: one budget for both of its streams, spent to the last byte.

export class OutputBudget {
  #left: number;
  #exceeded = false;
  readonly #onExceeded: () => void;

  constructor(bytes: number, onExceeded: () => void) {
    this.#left = bytes;
    this.#onExceeded = onExceeded;
  }

  get exceeded(): boolean {
    return this.#exceeded;
  }

  /** As much of `bytes` as there is budget for. Asking for more than that is the moment the limit is exceeded. */
  spend(bytes: Buffer): Buffer {
    const granted = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left);
    this.#left -= granted.length;
    if (granted.length < bytes.length && !this.#exceeded) {
      this.#exceeded = true;
      this.#onExceeded();
    }
    return granted;
  }
}
