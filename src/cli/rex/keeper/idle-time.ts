// How long a connection is kept that nobody uses, as REX_KEEP says it.

import { parseDuration } from '../../parse-duration.js';

/** Undefined for the usual time; 0 keeps nothing. */
export function keepIdleMs(env: NodeJS.ProcessEnv): number | undefined {
  const given = env['REX_KEEP'];
  if (given === undefined || given === '') return undefined;
  return /^(0|no|off|false)$/.test(given) ? 0 : parseDuration(given);
}
