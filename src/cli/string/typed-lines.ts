// Lines as they are typed, for whoever takes one after the other.

import type { Interface } from 'node:readline';

/** Lines that are typed while a command runs; more are not wanted. */
export const MAX_TYPED_AHEAD = 100;

export class TypedLines {
  readonly #lines: string[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;
  readonly #editor: Pick<Interface, 'on' | 'once' | 'close'>;

  constructor(editor: Pick<Interface, 'on' | 'once' | 'close'>) {
    this.#editor = editor;
    editor.on('line', (line: string) => {
      if (this.#lines.length < MAX_TYPED_AHEAD) this.#lines.push(line);
      this.#wake?.();
    });
    editor.once('close', () => {
      this.#isOver = true;
      this.#wake?.();
    });
  }

  close(): void {
    this.#editor.close();
  }

  /** Undefined when no more are to come. */
  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#wake = undefined;
    }
    return this.#lines.shift();
  }
}
