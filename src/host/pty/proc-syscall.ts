// The call a thread is blocked in, as /proc tells it.

import { readFileSync } from 'node:fs';

export interface BlockedCall {
  readonly number: number;
  readonly args: readonly number[];
}

const MAX_ARGS = 6;

/** Of the first thread of a program: undefined when it has ended, or nobody may know. */
export function readBlockedCall(pid: number): BlockedCall | 'none' | undefined {
  try {
    return parseSyscall(readFileSync(`/proc/${pid}/syscall`, 'latin1')) ?? 'none';
  } catch {
    return undefined;
  }
}

/** `0 0x3 0x7f… 0x400 … sp pc`, or `running`, or `-1 sp pc` when it waits for something that is no call. */
export function parseSyscall(line: string): BlockedCall | undefined {
  const [number = '', ...rest] = line.trim().split(' ');
  if (!/^\d+$/.test(number)) return undefined;
  const args = rest.slice(0, MAX_ARGS).map(Number);
  return args.length === MAX_ARGS && args.every((arg) => !Number.isNaN(arg))
    ? { number: Number(number), args }
    : undefined;
}
