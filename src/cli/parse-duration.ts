// A time as people write it: 90, 90s, 5m, 1h, 500ms.

import { UsageError } from './flags.js';
import { MAX_TIMER_MS } from '../base/deadline.js';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** In milliseconds; a bare number is seconds. */
export function parseDuration(text: string): number {
  const [, amount = '', unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  const ms = Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]);
  if (amount === '' || ms < 1 || ms > MAX_TIMER_MS)
    throw new UsageError(`"${text}" is no time: write 90, 90s, 5m, 1h or 500ms, up to 24 days`);
  return ms;
}
