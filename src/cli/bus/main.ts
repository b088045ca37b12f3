// The command line of stdio-bus. Only flags are dealt with here: help and version answer before anything is loaded.

import { LocalError, toError } from '../../base/errors.js';
import { VERSION } from '../../base/version.js';
import { EXIT } from '../exit-codes.js';
import { helpText, parseFlags, type Usage, UsageError } from '../flags.js';
import { printLine } from '../print-line.js';
import { BUS_USAGE, RESTART_USAGE, STATS_USAGE } from './usage.js';

/** Errors of whoever wrote the command line or the configuration. */
const USAGE_CODES = new Set([
  'usage',
  'config',
  'bad_listen_address',
  'bad_token',
  'bad_tls',
  'bad_secret_file',
  'path_too_long',
]);

export async function runBus(args: readonly string[]): Promise<void> {
  // Node would open its inspector, a port that runs code, for anybody who may send us a signal.
  process.on('SIGUSR1', () => {});
  try {
    process.exitCode = await main(args);
  } catch (thrown) {
    const error = toError(thrown);
    const hint = error instanceof UsageError ? '\nTry: stdio-bus --help' : '';
    process.stderr.write(
      `stdio-bus: ${error instanceof LocalError ? error.message : (error.stack ?? error.message)}${hint}\n`,
    );
    const isUsage = error instanceof LocalError && USAGE_CODES.has(error.code);
    process.exitCode = isUsage ? EXIT.usage : EXIT.failed;
  }
}

async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === 'stats' || first === 'restart') return await ask(first, rest);
  if (first !== undefined && !first.startsWith('-'))
    throw new UsageError(`unknown command "${first}"; there are stats and restart`);
  const flags = parseFlags(BUS_USAGE, args);
  const answered = await answerHelp(BUS_USAGE, flags);
  if (answered !== undefined) return answered;
  if (flags.has('check')) {
    const { checkBus } = await import('./check.js');
    return await checkBus(flags);
  }
  const { serveBus } = await import('./serve.js');
  // Everything has been flushed. What a client has not read by now would keep the process alive.
  return process.exit(await serveBus(flags));
}

async function ask(command: 'stats' | 'restart', args: readonly string[]): Promise<number> {
  const usage = command === 'stats' ? STATS_USAGE : RESTART_USAGE;
  const flags = parseFlags(usage, args);
  const answered = await answerHelp(usage, flags);
  if (answered !== undefined) return answered;
  const { showStats, askRestart } = await import('./ask.js');
  return await (command === 'stats' ? showStats(flags) : askRestart(flags));
}

async function answerHelp(usage: Usage, flags: ReturnType<typeof parseFlags>): Promise<number | undefined> {
  if (flags.has('help')) return await printLine(helpText(usage));
  if (flags.has('version')) return await printLine(`stdio-bus ${VERSION}`);
  return undefined;
}
