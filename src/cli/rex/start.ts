// The start of rex. A plain `rex exec TARGET -- COMMAND`, which scripts and agents call by the thousand, has no options to
// parse: it takes a shorter way to the same code, and the keeper is asked before the rest is loaded.

import type { Early } from './open-client.js';

export async function startRex(args: readonly string[]): Promise<void> {
  const [command, target, dashes, ...argv] = args;
  if (command !== 'exec' || target?.startsWith('-') !== false || dashes !== '--' || argv.length === 0) {
    const { runRex } = await import('./program.js');
    return await runRex(args);
  }
  let early: Early | undefined;
  if (target === 'local') {
    const { askEarly } = await import('./keeper/early.js');
    early = askEarly(process.env);
  }
  const { execAtOnce } = await import('./exec-at-once.js');
  await execAtOnce(target, argv, early);
}
