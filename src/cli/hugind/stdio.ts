// `hugind stdio`: the bridge on this process's own streams, until the client goes or we are told to end.

import { once } from 'node:events';
import { Bridge } from '../../hugind/bridge/bridge.js';
import { handlers } from '../../hugind/handlers.js';
import { findHome } from '../../hugind/home.js';
import { Turns } from '../../hugind/turns.js';
import { processLink } from '../../wire/transport/stdio.js';
import { printableLines } from '../colours.js';
import { sayAtOnce } from '../early-output.js';
import { EXIT } from '../exit-codes.js';
import { assertServable } from '../standard-streams.js';
import { keepStdoutClean } from './keep-stdout-clean.js';

export async function serveStdio(): Promise<number> {
  assertServable();
  const link = processLink();
  keepStdoutClean();
  const bridge = new Bridge(link, {
    home: findHome(process.env),
    env: process.env,
    turns: new Turns(),
    handlers,
    onError: (error) => sayAtOnce(printableLines(`hugind: ${error.stack ?? error.message}`)),
  });
  const ended = once(bridge.signal, 'abort');
  let interrupted = false;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      interrupted ||= signal === 'SIGINT';
      void bridge.close();
    });
  if (!bridge.signal.aborted) await ended;
  return interrupted ? EXIT.interrupted : EXIT.ok;
}
