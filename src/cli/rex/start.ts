// The start of rex. A plain `rex exec TARGET -- COMMAND`, which scripts and agents call by the thousand, has no options to
// parse: when a keeper has a connection for it, it runs without the rest being loaded.

import { execAtOnce, type Failure } from './exec-at-once.js';

/** All of rex, which is loaded when it is wanted. */
export interface WholeRex {
  runRex(args: readonly string[]): Promise<void>;
  failRex(failure: Failure): Promise<void>;
}

export async function startRex(args: readonly string[], loadWhole: () => Promise<WholeRex>): Promise<void> {
  const [command, target, dashes, ...argv] = args;
  if (command === 'exec' && target?.startsWith('-') === false && dashes === '--' && argv.length > 0) {
    const outcome = await execAtOnce(target, argv);
    if (typeof outcome === 'number') process.exit(outcome);
    if (outcome !== undefined) return await (await loadWhole()).failRex(outcome);
  }
  await (await loadWhole()).runRex(args);
}
