// An attacker: a process that swaps folders and files for links that lead out, as fast as it can.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SWAPPER = fileURLToPath(new URL('../fixtures/files/swapper.mjs', import.meta.url));

/** At work when it is given. */
export async function startSwapper(
  paths: readonly string[],
): Promise<AsyncDisposable & { isRunning(): boolean }> {
  const child = spawn(process.execPath, [SWAPPER, ...paths], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
