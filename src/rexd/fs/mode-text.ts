// Permissions as `ls -l` shows them.

import type { EntryType } from '../../host/files/errors.js';

const TYPES: Readonly<Record<EntryType, string>> = { file: '-', dir: 'd', symlink: 'l', other: '?' };
const TRIPLES = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx'];

export function modeText(type: EntryType, mode: number): string {
  const triple = (shift: number): string => TRIPLES[(mode >> shift) & 7] ?? '---';
  return `${TYPES[type]}${triple(6)}${triple(3)}${triple(0)}`;
}
