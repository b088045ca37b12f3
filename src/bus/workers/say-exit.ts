// How a process ended, in words.

import type { LeaderExit } from '../../host/process/leader.js';

export function sayExit({ code, signal }: LeaderExit): string {
  return signal === null ? `exited with code ${code ?? 'unknown'}` : `was ended by ${signal}`;
}
