// A log for whoever wants none: a bus inside another program says nothing unless it is given one.

import type { Log } from '../base/log.js';

const nothing = (): void => {};

export const silentLog: Log = {
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLog,
  flush: () => Promise.resolve(),
};
