// Our own terminal while a program on the other side has it: every key is passed on, and in the end it is as it was.

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export class OwnTerminal implements Disposable {
  #onResize: (() => void) | undefined;
  readonly #restore = (): void => this[Symbol.dispose]();

  get size(): Size {
    return { cols: sizeOr(process.stdout.columns, 80), rows: sizeOr(process.stdout.rows, 24) };
  }

  open(onResize: (size: Size) => void): void {
    // Also when we end by an exception: a terminal that stays raw cannot be typed into.
    process.once('exit', this.#restore);
    process.stdin.setRawMode(true);
    this.#onResize = () => onResize(this.size);
    process.stdout.on('resize', this.#onResize);
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#restore);
    if (this.#onResize === undefined) return;
    process.stdout.off('resize', this.#onResize);
    this.#onResize = undefined;
    if (process.stdin.isRaw) process.stdin.setRawMode(false);
    process.stdin.destroy();
  }
}

/** A terminal that nobody has given a size says 0. */
function sizeOr(size: number | undefined, usual: number): number {
  return size === undefined || size < 1 ? usual : size;
}
