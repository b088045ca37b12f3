// What the kernel says is running: the test kit does not take the word of the code under test for it.

import { readdirSync, readFileSync } from 'node:fs';

export interface Running {
  readonly pid: number;
  readonly ppid: number;
  readonly state: string;
  readonly command: string;
}

export function running(): Running[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => read(Number(name)))
    .filter((found) => found !== undefined);
}

/** Processes below `ancestor`, zombies left out (they are dead, only not yet reaped). */
export function descendants(ancestor: number): Running[] {
  return childrenOf(ancestor).flatMap((pid) => {
    const child = read(pid);
    return child === undefined || child.state === 'Z' ? descendants(pid) : [child, ...descendants(pid)];
  });
}

/** Processes born with `name=value…` in their environment, wherever they have been reparented to. */
export function markedWith(name: string, value: string): Running[] {
  return running().filter(
    (process) =>
      process.state !== 'Z' && environ(process.pid).some((entry) => entry.startsWith(`${name}=${value}`)),
  );
}

/** Sends it to each that is still there: one may end because of another's end. */
export function killAll(processes: readonly Running[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, signal);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
    }
  }
}

export function isAlive(pid: number): boolean {
  const found = read(pid);
  return found !== undefined && found.state !== 'Z';
}

/**
 * Every thread may have children of its own. The kernel lists them, which spares a walk over all of /proc; but it may leave
 * one out when another one ends while it lists them, so it is asked twice.
 */
function childrenOf(pid: number): number[] {
  return [...new Set([...listChildren(pid), ...listChildren(pid)])];
}

function listChildren(pid: number): number[] {
  return threadsOf(pid).flatMap((thread) => {
    try {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1');
      return list.split(' ').filter(Boolean).map(Number);
    } catch {
      return []; // this thread has ended while we looked, its siblings have not
    }
  });
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // ended while we looked
  }
}

function environ(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

function read(pid: number): Running | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state = '', ppid = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
    return { pid, ppid: Number(ppid), state, command };
  } catch {
    return undefined; // ended while we looked
  }
}

/** The most memory it has had at any time. */
export function peakRssBytes(pid: number): number {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(found?.[1]) * 1024;
}
