// The size of a terminal in characters.

import { LocalError } from '../../base/errors.js';

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** The kernel has sixteen bits for each. */
export const MAX_TERMINAL_SIDE = 65_535;

export class TerminalSizeError extends LocalError {
  override readonly name = 'TerminalSizeError';

  constructor({ cols, rows }: TerminalSize) {
    super('bad_terminal_size', `columns and rows must be whole numbers from 1 to ${MAX_TERMINAL_SIDE}`, {
      facts: { cols, rows },
    });
  }
}

/** Zero is refused although the kernel takes it: to programs it means "unknown", and some divide by it. */
export function assertTerminalSize(size: TerminalSize): void {
  for (const side of [size.cols, size.rows])
    if (!Number.isInteger(side) || side < 1 || side > MAX_TERMINAL_SIDE) throw new TerminalSizeError(size);
}
