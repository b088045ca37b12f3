// Work done from inside a pinned directory: names alone are looked up, which takes half the time of a path through /proc.
//
// The working directory belongs to the whole process. So this is for a process that is ours (RootSet says so), for work
// that never waits, and nothing else of ours names a file by a relative path.

import { openSync } from 'node:fs';
import { descriptorPath, HOLD_DIRECTORY, type Pin } from './pin.js';

/** Throws what the kernel says when the directory may not be entered; then nothing has been done. */
export function within<T>(directory: Pin, work: () => T): T {
  home ??= openSync('.', HOLD_DIRECTORY);
  process.chdir(directory.here);
  try {
    return work();
  } finally {
    goHome(home);
  }
}

/** Where the process was; held, so that it is found again whatever its path has come to mean. */
let home: number | undefined;

function goHome(to: number): void {
  try {
    process.chdir(descriptorPath(to));
  } catch {
    process.chdir('/'); // may not be entered any more: anywhere but in somebody's directory
  }
}
