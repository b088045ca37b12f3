// Once per run: every process born during the run carries a mark; none may be left when the run ends.

import { randomUUID } from 'node:crypto';
import { descendants, markedWith } from './proc.js';
import { until } from './wait.js';

/** The name `src/host` gives its own marks: a child's mark begins with its parent's, so one prefix finds them all. */
export const MARK = 'HAWSER_MARK';

export async function setup(): Promise<() => Promise<void>> {
  // One for all projects of this run, and our own: whoever started us may have marked us already, with much else.
  const run = ((globalThis as { hawserRun?: string }).hawserRun ??= newMark());
  process.env[MARK] = run;
  return async () => {
    // Workers of the runner are still about; whoever descends from us is the runner's to end.
    const orphans = (): string[] => {
      const ours = new Set(descendants(process.pid).map((child) => child.pid));
      return markedWith(MARK, run)
        .filter((process) => !ours.has(process.pid))
        .map((process) => `${process.pid} ${process.command}`);
    };
    // None seen once is none: a worker that starts another between our two looks would be seen the next time.
    await until(() => orphans().length === 0, 'the last processes of this run to end').catch(() => {
      const left = orphans();
      if (left.length > 0) throw new Error(`orphans left by this run:\n  ${left.join('\n  ')}`);
    });
  };
}

function newMark(): string {
  return [process.env[MARK], `test-${randomUUID()}`].filter(Boolean).join('/');
}
