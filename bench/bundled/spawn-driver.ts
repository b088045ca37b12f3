// Starts a short program again and again when told to, through `src/host` or by bare child_process, in a process of its own:
// a fork costs more the larger the forking process is, and the bench kit is large.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { spawnProcess } from '../../src/host/process/spawn.js';

const ARGV: readonly [string, ...string[]] = ['/bin/true'];

const WAYS = {
  /** The limit: what Node does for the same pipes and a group of its own, and nothing else. */
  async bare(): Promise<void> {
    const child = spawn(ARGV[0], ARGV.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
  },
  async host(): Promise<void> {
    const child = await spawnProcess({ argv: ARGV });
    child.stdout?.discard();
    child.stderr?.discard();
    await child.exited;
  },
};

const startOne = WAYS[process.argv[2] as keyof typeof WAYS];

for await (const line of createInterface({ input: process.stdin })) {
  const { id, params } = JSON.parse(line) as { id: number; params: { ops: number; atOnce: number } };
  let left = params.ops;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await startOne();
    }
  };
  await Promise.all(Array.from({ length: params.atOnce }, work));
  process.stdout.write(`${JSON.stringify({ id, result: null })}\n`);
}
