// What our standard input is: something to pass on, a terminal, or nothing.

import { fstatSync } from 'node:fs';

const STDIN = 0;
/** /dev/null on Linux: major 1, minor 3. */
const NULL_DEVICE = 0x103;

export type InputKind = 'none' | 'terminal' | 'data';

export function inputKind(): InputKind {
  try {
    const stat = fstatSync(STDIN);
    if (stat.isCharacterDevice() && stat.rdev === NULL_DEVICE) return 'none';
    // Late: most calls are made by programs, and it takes a millisecond to load.
    if (stat.isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(STDIN)) return 'terminal';
    return stat.isDirectory() || (stat.isFile() && stat.size === 0) ? 'none' : 'data';
  } catch {
    return 'none'; // closed
  }
}
