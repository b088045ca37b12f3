// Whether bubblewrap works on this machine, asked of bubblewrap itself: a suite for any server must not ask ours.

import { spawnSync } from 'node:child_process';

const BWRAP = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid', 'true'];

/** Why no sandbox can be made here; undefined when one can. */
export function whyNoSandbox(): string | undefined {
  const { error, status, stderr } = spawnSync('bwrap', BWRAP, { encoding: 'utf8', timeout: 60_000 });
  if (error !== undefined) return `bwrap: ${error.message}`;
  return status === 0 ? undefined : `bwrap does not work here: ${stderr.trim()}`;
}
