// The most memory a process has had since it was last asked: the kernel keeps the mark, and lets it be set back.

import { readFileSync, writeFileSync } from 'node:fs';

/** What Linux takes as "set the high-water mark back to what is used now". */
const RESET_PEAK = '5';

/** Without effect where there is no /proc or the process is somebody else's. */
export function resetPeakMemory(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK);
  } catch {
    // The peak then is that of its whole life: more than it need be, never less.
  }
}

/** Resident memory at its highest, in MiB; undefined where the system does not say. */
export function peakMemoryMiB(pid: number): number | undefined {
  try {
    return parsePeak(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Resident memory now, in MiB; undefined where the system does not say. */
export function memoryMiB(pid: number): number | undefined {
  try {
    return parseKib(readFileSync(`/proc/${pid}/status`, 'latin1'), 'VmRSS');
  } catch {
    return undefined;
  }
}

/** `status` as in /proc/<pid>/status. */
export function parsePeak(status: string): number | undefined {
  return parseKib(status, 'VmHWM');
}

function parseKib(status: string, name: 'VmHWM' | 'VmRSS'): number | undefined {
  const [, kib] = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status) ?? [];
  return kib === undefined ? undefined : Number(kib) / 1024;
}
