// An AbortController whose signal may have as many listeners as there is work in flight.

/**
 * Node warns of a leak at the eleventh listener of a signal. The signal of a server or a session has one for each
 * request, timer and child it covers, which is no leak: here the warning is off. (Asked of the process, not imported,
 * so that a browser can load this file.)
 */
export function newAbort(): AbortController {
  const controller = new AbortController();
  if (typeof process !== 'undefined') {
    process.getBuiltinModule('node:events').setMaxListeners(0, controller.signal);
  }
  return controller;
}
