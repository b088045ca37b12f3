// CPU time of this process, of a running child, and of the children that have ended: steadier than wall time on a busy machine.

import { readFileSync } from 'node:fs';

/** Linux reports /proc times in hundredths of a second on every architecture Node runs on. */
const MS_PER_TICK = 10;
const UTIME = 11; // positions after the name, which is the one field that may hold blanks
const CUTIME = 13;

export function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** User and system time of a running process; 0 where there is no /proc. */
export function childCpuMs(pid: number): number {
  return sumTicks(readStat(String(pid)), UTIME);
}

/** The same with every child it has waited for. */
export function treeCpuMs(pid: number): number {
  const stat = readStat(String(pid));
  return sumTicks(stat, UTIME) + sumTicks(stat, CUTIME);
}

/** User and system time of every child this process has waited for. */
export function endedChildrenCpuMs(): number {
  return sumTicks(readStat('self'), CUTIME);
}

/** `stat` as in /proc/<pid>/stat; `at` is the first of two neighbouring fields. */
export function sumTicks(stat: string, at: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[at] ?? 0) + Number(fields[at + 1] ?? 0);
  return Number.isFinite(ticks) ? ticks * MS_PER_TICK : 0;
}

function readStat(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return '';
  }
}
