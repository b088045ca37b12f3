// A keeper of its own process, beyond the end of the call that starts it.

import { spawn } from 'node:child_process';
import type { KeeperSpec } from './spec.js';

/**
 * Never fatal: without one the next call makes its own connection. Nothing of ours is held open by it. What it is to keep
 * goes by its input: the key has the values of variables in it, and everybody can read the command line of a process.
 */
export function startKeeper(spec: KeeperSpec): void {
  const [program = ''] = process.argv.slice(1);
  const child = spawn(process.execPath, [program, 'keep', '--serve'], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin.on('error', () => {}).end(`${JSON.stringify(spec)}\n`);
  child.unref();
}
