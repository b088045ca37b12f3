// What a worker prints that is no message: told to the log, counted, and not believed.

import type { Core } from './core.js';
import type { Worker } from './worker.js';

/** Of a line that is shown in the log. */
export const MAX_SHOWN_BYTES = 120;
/** Lines of one worker that are shown; further ones only as their number doubles. */
export const MAX_SHOWN_LINES = 8;

export function noteRubbish(core: Core, worker: Worker, line: Buffer, why: string): void {
  worker.rubbish += 1;
  const lines = worker.rubbish;
  if (lines <= MAX_SHOWN_LINES || (lines & (lines - 1)) === 0) {
    core.hooks.log.warn('a worker printed what is no message', {
      worker: worker.name,
      why,
      lines,
      begins: line.toString('utf8', 0, MAX_SHOWN_BYTES),
    });
  }
  if (lines > core.settings.limits.maxRubbishLines) core.hooks.onRubbish?.(worker.number, lines);
}
