// rex exec without options, over a connection that a keeper has: as little as it takes between two programs.
//
// What it does is what exec.ts does by a client; whatever is not plain sailing is left to that one, before anything runs.

import { existsSync } from 'node:fs';
import { toError } from '../../base/errors.js';
import { EarlyOutput, sayAtOnce } from '../early-output.js';
import { inputKind } from './input-source.js';
import { InterruptedError, Interrupts } from '../interrupts.js';
import { type KeeperAddress, keeperAddress } from './keeper/address.js';
import { keepIdleMs } from './keeper/idle-time.js';
import { KeptCall } from './keeper/kept-call.js';
import { isLost, sayLost } from './lost-connection.js';
import { ReaderGoneError } from '../standard-output.js';
import { passSignalsOn, READER_GONE, sayEnd } from './stream-process.js';

/** Of the other side, when it has a code; else of the way there. */
export interface Failure {
  readonly code?: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The exit code, or why there is none; undefined when nothing was begun and it is to be done in the usual way. */
export async function execAtOnce(
  target: string,
  argv: readonly string[],
): Promise<number | Failure | undefined> {
  const address = findKeeper(target, process.env);
  const cwd = target === 'local' ? ownFolder() : undefined;
  if (address === undefined || (target === 'local' && cwd === undefined)) return undefined;
  const piped = inputKind() === 'data';
  const start = { argv, ...(cwd !== undefined && { cwd }), ...(!piped && { stdin: '' }) };
  const output = new EarlyOutput();
  const call = new KeptCall(address, start, (stream, bytes) => output.write(stream, bytes));
  // While the keeper is at work. Never disposed of: the process ends with the call, and that takes time as well.
  const interrupts = new Interrupts();
  interrupts.take((signal) => process.exit(new InterruptedError(signal).exitCode));
  // Node would open its inspector, a port that runs code, for anybody who may send us a signal.
  process.on('SIGUSR1', () => {});
  const begun = await call.begun;
  if (begun !== 'running') return begun === 'absent' ? undefined : begun;
  passSignalsOn({ onInterrupt: (handler) => interrupts.take(handler) }, call);
  if (piped) void pump(call);
  try {
    return sayEnd({ say: sayAtOnce }, await call.exit);
  } catch (thrown) {
    // What runs there ends with the connection.
    if (thrown instanceof ReaderGoneError) return READER_GONE;
    return { message: isLost(thrown) ? sayLost(target) : toError(thrown).message };
  }
}

async function pump(call: KeptCall): Promise<void> {
  const { pumpInput } = await import('./pump-input.js');
  await pumpInput(process.stdin, call).catch(() => call.endInput().catch(() => {}));
}

/** Undefined also when something is amiss: the usual way finds out what, and tells. */
function findKeeper(alias: string, env: NodeJS.ProcessEnv): KeeperAddress | undefined {
  try {
    if (keepIdleMs(env) === 0) return undefined;
    const address = keeperAddress(alias, env);
    return address !== undefined && existsSync(address.socket) ? address : undefined;
  } catch {
    return undefined;
  }
}

function ownFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined; // it is gone
  }
}
