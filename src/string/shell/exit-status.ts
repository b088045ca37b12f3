// The status of a program that has ended, as a shell would have it in `$?`.

import { constants } from 'node:os';

const KILLED = 128;

export function exitStatusOf({
  code,
  signal,
}: {
  readonly code: number | null;
  readonly signal: string | null;
}): number {
  if (code !== null) return code;
  return KILLED + ((constants.signals[signal as NodeJS.Signals] as number | undefined) ?? 0);
}
