// Whatever a library prints goes to stderr: on stdout one stray line would break the protocol.

/** To be called when the link has its stream: what comes later is not for the client. */
export function keepStdoutClean(): void {
  Object.defineProperty(process, 'stdout', { configurable: true, get: () => process.stderr });
  // The console keeps the stream that it has used before.
  for (const name of [
    'log',
    'info',
    'debug',
    'dir',
    'table',
    'dirxml',
    'group',
    'count',
    'timeEnd',
    'timeLog',
  ] as const)
    Object.defineProperty(console, name, { configurable: true, value: toStderr });
}

// oxlint-disable-next-line no-console -- this is where the console is led away from stdout
const toStderr = (...words: unknown[]): void => console.error(...words);
