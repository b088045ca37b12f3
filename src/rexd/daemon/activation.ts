// Sockets that systemd has opened for us (sd_listen_fds(3)): which there are, and what is spoken on each.

import { readFileSync, readlinkSync } from 'node:fs';
import { LocalError } from '../../base/errors.js';

const FIRST_FD = 3;
/** Nobody passes more; a number that is wrong must not make us go through a million descriptors. */
export const MAX_PASSED_FDS = 64;

export interface PassedSockets {
  /** Unix sockets, which carry lines. */
  readonly unix: readonly number[];
  /** Those of the network, which carry HTTP. */
  readonly tcp: readonly number[];
}

/** None when they were meant for another process: the variables are inherited by whoever is started next. */
export function passedSockets(env: NodeJS.ProcessEnv, pid: number = process.pid): PassedSockets {
  const count = Number(env['LISTEN_FDS'] ?? 0);
  if (Number(env['LISTEN_PID']) !== pid || !(count > 0)) return { unix: [], tcp: [] };
  if (!Number.isInteger(count) || count > MAX_PASSED_FDS)
    throw new LocalError('bad_activation', `LISTEN_FDS: expected at most ${MAX_PASSED_FDS}, got ${count}`);
  const fds = Array.from({ length: count }, (_, i) => FIRST_FD + i);
  const unixSockets = readUnixInodes();
  const isUnix = (fd: number): boolean => unixSockets.has(inodeOf(fd));
  return { unix: fds.filter(isUnix), tcp: fds.filter((fd) => !isUnix(fd)) };
}

function inodeOf(fd: number): string {
  let target: string;
  try {
    target = readlinkSync(`/proc/self/fd/${fd}`);
  } catch (cause) {
    throw new LocalError('bad_activation', `LISTEN_FDS speaks of descriptor ${fd}, which is not there`, {
      cause,
    });
  }
  const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
  if (inode === undefined)
    throw new LocalError('bad_activation', `descriptor ${fd} of LISTEN_FDS is not a socket but ${target}`);
  return inode;
}

/** The kernel's list, one socket a line, its inode in the seventh column. Nothing of Node's tells the kind of a socket. */
function readUnixInodes(): ReadonlySet<string> {
  const lines = readFileSync('/proc/net/unix', 'utf8').trimEnd().split('\n').slice(1);
  return new Set(lines.map((line) => line.trim().split(/\s+/)[6] ?? ''));
}
