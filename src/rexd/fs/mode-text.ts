// Permissions as `ls -l` shows them.

import type { EntryType } from '../../host/files/errors.js';

const TYPES: Readonly<Record<EntryType, string>> = { file: '-', dir: 'd', symlink: 'l', other: '?' };
/** What is neither file, folder nor link, by the kind in its mode. */
const OTHERS: Readonly<Record<number, string>> = {
  0o010000: 'p',
  0o020000: 'c',
  0o060000: 'b',
  0o140000: 's',
};
const KIND = 0o170000;
const TRIPLES = ['---', '--x', '-w-', '-wx', 'r--', 'r-x', 'rw-', 'rwx'];

export function modeText(type: EntryType, mode: number): string {
  const triple = (shift: number): string => TRIPLES[(mode >> shift) & 7] ?? '---';
  return `${OTHERS[mode & KIND] ?? TYPES[type]}${triple(6)}${triple(3)}${triple(0)}`;
}
