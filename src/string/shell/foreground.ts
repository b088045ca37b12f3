// Who has the terminal of a shell, and so is told of a Ctrl-C.

import { readFileSync } from 'node:fs';
import { readStat } from '../../host/process/proc-table.js';

export interface Foreground {
  readonly group: number;
  /** Nothing was started: the shell reads its line, or does a command itself. */
  readonly isShell: boolean;
  /** Still a copy of the shell, which hears a Ctrl-C and forgets it when it becomes the program. */
  readonly isCopy: boolean;
}

/** Undefined when nobody can know. */
export function findForeground(shell: number): Foreground | undefined {
  const group = readStat(shell)?.foregroundGroup ?? 0;
  if (group <= 0) return undefined;
  const isShell = group === shell;
  return { group, isShell, isCopy: isShell || commandLine(group) === commandLine(shell) };
}

/** Whether whoever has the terminal now may not have heard the Ctrl-C that was pressed `then`. */
export function isUntold(then: Foreground | undefined, now: Foreground | undefined): boolean {
  if (then === undefined || now === undefined) return false;
  return now.isShell || now.group !== then.group || now.isCopy !== then.isCopy;
}

/** Empty for one that has ended. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
