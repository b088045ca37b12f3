// One reading of /proc for all who need one at the same moment: forty programs that end together are not worth forty.

import { MARK_VARIABLE } from './mark.js';
import { type ProcStat, readTable, readVariable } from './proc-table.js';

/** What ran at one moment. */
export class Sweep {
  readonly table: readonly ProcStat[] = readTable();
  readonly #marks = new Map<number, string | undefined>();

  /** Read when it is asked for, and once: most searches need few of them. */
  markOf(pid: number): string | undefined {
    if (!this.#marks.has(pid)) this.#marks.set(pid, readVariable(pid, MARK_VARIABLE));
    return this.#marks.get(pid);
  }
}

let next: Promise<Sweep> | undefined;

/** Of a moment after this call, so that whatever was done before it is seen. To be used at once: it grows old. */
export function nextSweep(): Promise<Sweep> {
  next ??= new Promise((resolve) => {
    setImmediate(() => {
      next = undefined;
      resolve(new Sweep());
    });
  });
  return next;
}
