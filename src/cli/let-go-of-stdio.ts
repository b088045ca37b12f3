// Standard streams given back: a server that stays for its sessions must not keep open what led to its client. sshd waits
// for these pipes to be closed, and the client's shell for sshd.

import { closeSync, openSync } from 'node:fs';
import { bun } from '../host/runtime/bun.js';

const STANDARD = [0, 1, 2] as const;

export function letGoOfStdio(): void {
  if (bun === undefined) closeNodeStreams();
  // A new one takes the lowest number that is free, so each takes the place of the one before it.
  for (const fd of STANDARD) {
    closeSync(fd);
    openSync('/dev/null', fd === 0 ? 'r' : 'w');
  }
}

/** Not to be asked for under Bun, whose streams we do not use: it makes them then, each with a descriptor that nobody closes. */
function closeNodeStreams(): void {
  process.stdin.destroy();
  // Node never closes these three by itself; the handle has to be gone before its descriptor means something else.
  const { _handle: handle } = process.stdout as { _handle?: { close?: () => void } | null };
  handle?.close?.();
}
