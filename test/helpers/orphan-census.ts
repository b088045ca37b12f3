// Once per run: every process born during the run carries a mark; none may be left when the run ends.

import { randomUUID } from 'node:crypto';
import { descendants, markedWith } from './proc.js';
import { until } from './wait.js';

/** The name `src/host` gives its own marks: a child's mark begins with its parent's, so one prefix finds them all. */
export const MARK = 'HAWSER_MARK';

export async function setup(): Promise<() => Promise<void>> {
  process.env[MARK] ??= `test-${randomUUID()}`;
  const run = process.env[MARK];
  return async () => {
    // Workers of the runner are still about; whoever descends from us is the runner's to end.
    const orphans = (): string[] => {
      const ours = new Set(descendants(process.pid).map((child) => child.pid));
      return markedWith(MARK, run)
        .filter((process) => !ours.has(process.pid))
        .map((process) => `${process.pid} ${process.command}`);
    };
    await until(() => orphans().length === 0, 'the last processes of this run to end').catch(() => {});
    const left = orphans();
    if (left.length > 0) throw new Error(`orphans left by this run:\n  ${left.join('\n  ')}`);
  };
}
