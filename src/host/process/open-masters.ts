// Keeps our ends of terminals out of the programs we start.

import { openSync } from 'node:fs';
import type { StdioOptions } from 'node:child_process';

type StdioEntry = Exclude<StdioOptions, string>[number];

/** The first descriptors always get something of their own. */
const FIRST_INHERITED = 3;

const masters = new Set<number>();
let nothing: number | undefined;

export function addMaster(fd: number): void {
  masters.add(fd);
}

export function removeMaster(fd: number): void {
  masters.delete(fd);
}

/**
 * The add-on opens our ends without close-on-exec and Node cannot set it later, so every program started would have
 * them all: it could read and type into other people's terminals, and none of these would hang up when we close it
 * or die. Every start of a program passes its `stdio` through here; in place of each such descriptor it gets /dev/null.
 */
export function hideMasters(stdio: readonly StdioEntry[]): StdioEntry[] {
  const hidden = [...stdio];
  for (const fd of masters) {
    if (fd < FIRST_INHERITED) continue;
    while (hidden.length < fd) hidden.push('ignore');
    const given = hidden[fd];
    // From the third on, Node's `ignore` means that the child has what we have under that number.
    if (given === undefined || given === null || given === 'ignore') hidden[fd] = openNothing();
  }
  return hidden;
}

function openNothing(): number {
  nothing ??= openSync('/dev/null', 'r');
  return nothing;
}
