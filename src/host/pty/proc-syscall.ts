// Two lines of /proc: the call a thread is blocked in, and the group a terminal is given to.

import { readFileSync } from 'node:fs';

export interface BlockedCall {
  readonly number: number;
  readonly args: readonly number[];
}

/** Of the fields behind the name, counted from the state letter. */
const FOREGROUND_GROUP = 5;
const MAX_ARGS = 6;

/** `0 0x3 0x7f… 0x400 … sp pc`, or `running`, or `-1 sp pc` when it waits for something that is no call. */
export function parseSyscall(line: string): BlockedCall | undefined {
  const [number = '', ...rest] = line.trim().split(' ');
  if (!/^\d+$/.test(number)) return undefined;
  const args = rest.slice(0, MAX_ARGS).map(Number);
  return args.length === MAX_ARGS && args.every((arg) => !Number.isNaN(arg))
    ? { number: Number(number), args }
    : undefined;
}

/** The process group that the terminal of this process belongs to; undefined when it has none. */
export function readForegroundGroup(pid: number): number | undefined {
  try {
    return parseForegroundGroup(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return undefined;
  }
}

/** The name may hold anything, so the fields are counted from its last bracket. */
export function parseForegroundGroup(stat: string): number | undefined {
  const close = stat.lastIndexOf(') ');
  if (close === -1) return undefined;
  const group = Number(stat.slice(close + 2).split(' ')[FOREGROUND_GROUP] ?? '');
  return Number.isSafeInteger(group) && group > 0 ? group : undefined;
}
