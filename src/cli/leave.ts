// How every call of a command-line program ends: what went wrong is told, once, and the exit code says what it came to.

import { errnoOf, LocalError, RpcError, toError } from '../base/errors.js';
import { EXIT } from './exit-codes.js';
import { UsageError } from './flags.js';
import { FailedError } from './failed-error.js';
import { printableLines } from './colours.js';
import { InterruptedError } from './interrupts.js';
import { isAllWritten, ReaderGoneError, writeTo } from './standard-output.js';

/** `help`: the call whose help tells more, for one that was written wrongly. */
export async function leave(
  program: string,
  work: () => Promise<number>,
  help = `${program} --help`,
): Promise<void> {
  // Node would open its inspector, a port that runs code, for anybody who may send us a signal.
  process.on('SIGUSR1', () => {});
  process.exitCode = await work().catch((thrown: unknown) => tell(program, thrown, help));
  // What is still open belongs to nobody any more, and to wait for Node to close it takes milliseconds.
  if (isAllWritten()) process.exit();
}

/** The exit code. */
function tell(program: string, thrown: unknown, help: string): number {
  const error = toError(thrown);
  if (error instanceof ReaderGoneError) return EXIT.ok;
  if (error instanceof InterruptedError) return error.exitCode;
  if (error.cause instanceof InterruptedError) return error.cause.exitCode; // of Node's own waiting
  const isOurs = error instanceof LocalError || error instanceof RpcError || errnoOf(error) !== undefined;
  const said = isOurs ? `${error.message}${whichPath(error)}` : (error.stack ?? error.message);
  const hint = error instanceof FailedError ? error.hint : undefined;
  const usage = error instanceof UsageError;
  const advice = hint ?? (usage ? `Try: ${help}` : undefined);
  const text = `${program}: ${said}${advice === undefined ? '' : `\n${advice}`}`;
  writeTo(process.stderr, `${printableLines(text)}\n`).catch(() => {}); // much of it is in the words of the other side
  if (error instanceof FailedError) return error.exitCode;
  return usage || isBadConfig(error) ? EXIT.usage : EXIT.failed;
}

function isBadConfig(error: Error): boolean {
  return error instanceof LocalError && error.code === 'bad_config';
}

/** A refusal names the path in its data, and what would be allowed. */
function whichPath(error: Error): string {
  if (!(error instanceof RpcError) || typeof error.data !== 'object' || error.data === null) return '';
  const { path, allowed_roots: roots } = error.data as { path?: unknown; allowed_roots?: unknown };
  if (typeof path !== 'string' || error.message.includes(path)) return '';
  return `: ${path}${Array.isArray(roots) ? ` (allowed: ${roots.length === 0 ? 'nothing' : roots.join(', ')})` : ''}`;
}
