// A keeper of its own process, beyond the end of the call that starts it.

import { spawn } from 'node:child_process';
import type { KeeperSpec } from './spec.js';

/** Never fatal: without one the next call makes its own connection. Nothing of ours is held open by it. */
export function startKeeper(spec: KeeperSpec): void {
  const [program = ''] = process.argv.slice(1);
  const child = spawn(process.execPath, [program, 'keep', '--serve', JSON.stringify(spec)], {
    cwd: '/',
    detached: true,
    stdio: 'ignore',
  });
  child.on('error', () => {});
  child.unref();
}
