// A deadline that is ended by hand: not every browser can dispose of things yet.

import { deadline } from '../../base/deadline.js';

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** When the work is done: no timer and no listener stays behind. */
  end(): void;
}

export function timeLimit(ms: number, options: Parameters<typeof deadline>[1] = {}): TimeLimit {
  const limit = deadline(ms, options);
  // Where there is no such symbol, both sides call the method `undefined`, and find each other all the same.
  return { signal: limit.signal, end: () => limit[Symbol.dispose]() };
}
