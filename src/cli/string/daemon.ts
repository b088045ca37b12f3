// `string daemon`: start, stop and look at the daemon. `--daemon` is the same.

import { UsageError } from '../flags.js';
import { type StringCommand, suggest } from './command.js';
import type { StringContext } from './context.js';

const VERBS = ['start', 'stop', 'status', 'foreground'] as const;
type Verb = (typeof VERBS)[number];

const HELP = [
  'string daemon: the daemon stringd, which every call of string uses and starts when there is none',
  '',
  'Usage:',
  '  string [--port PORT] daemon start               start it, and wait until it answers',
  '  string [--port PORT] daemon stop                end it in order: shells end, sessions and events are kept',
  '  string [--port PORT] daemon status [--json]     whether it runs, where, and for how many; exit code 1 when not',
  '  string daemon foreground [PORT] [--log]         be it, until Ctrl-C; --log writes a log below STRING_DATA_DIR',
].join('\n');

export const daemonCommand: StringCommand = async (context, words) => {
  const [, verb = 'start', ...rest] = words;
  if (['help', '--help', '-h'].includes(verb) || rest.some((word) => word === '--help' || word === '-h'))
    return await context.print(HELP);
  if (!isVerb(verb))
    throw new UsageError(
      `string daemon has no command "${verb}"${suggest(verb, VERBS)}\nIt has: ${VERBS.join(', ')}`,
    );
  if (verb === 'foreground') return await serveHere(context, rest);
  const extra = rest.find((word) => word !== '--json');
  if (extra !== undefined) throw new UsageError(`string daemon ${verb} takes no argument "${extra}"`);
  const { startDaemon, stopDaemon, showStatus } = await import('./daemon-control.js');
  const json = context.json || rest.includes('--json');
  if (verb === 'start') return await startDaemon(context, json);
  return verb === 'stop' ? await stopDaemon(context, json) : await showStatus(context, json);
};

function isVerb(word: string): word is Verb {
  return (VERBS as readonly string[]).includes(word);
}

async function serveHere(context: StringContext, words: readonly string[]): Promise<number> {
  const [port, extra] = words.filter((word) => word !== '--log');
  if (extra !== undefined) throw new UsageError(`string daemon foreground takes no argument "${extra}"`);
  if (words.includes('--log')) process.env['STRING_LOG'] = '1';
  context[Symbol.dispose](); // signals are the daemon's now
  const { runStringd } = await import('../stringd.js');
  const given = port ?? context.flags.value('port');
  await runStringd(given === undefined ? [] : ['--port', given]);
  return Number(process.exitCode ?? 0);
}
