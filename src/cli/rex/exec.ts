// rex exec: a command on a target, as if it ran here: its streams, its exit code, its signals.

import type { RexParams } from '../../client/rex/rex-methods.js';
import { UsageError } from '../flags.js';
import { collect } from './collect.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { type ExecOptions, execRequest, readWords } from './exec-options.js';
import { inputKind } from './input-source.js';
import { isLost, sayLost } from './lost-connection.js';
import type { Connection } from './open-client.js';
import type { Input } from './pump-input.js';
import { streamProcess } from './stream-process.js';

export const execCommand: RexCommand = {
  examples: [
    ['rex exec local -- uname -a', 'on this machine'],
    ['rex exec server-a --cwd /srv/app -- make test', 'on a target, in a folder; its exit code is ours'],
    ['rex exec server-a --shell "ps aux | wc -l"', 'a line for the shell of the target'],
    ['tar c . | rex exec server-a -- tar x -C /srv/app', 'what is piped in is its input, byte by byte'],
    ['rex exec server-a --env API_TOKEN -- deploy', 'the value is taken from our environment, not typed'],
    ['rex exec server-a --detach -- ./train.sh', 'goes on without us; see rex ps, logs, attach and kill'],
  ],
  define: (command, run) => {
    command
      .usage('[options] [TARGET] -- COMMAND [ARGS...]')
      .argument('[target]', 'where to run it; without one, see "rex target which"')
      .argument('[words...]', 'the command; after -- its options are its own')
      .option('-c, --shell <text>', 'run this text by the shell of the target instead of a command')
      .option('-l, --login', 'with --shell: a login shell, which reads the profile')
      .option('-e, --env <name=value>', 'a variable for it; a bare NAME is taken from here', collect, [])
      // Not --env-file: Node takes that for itself, wherever it stands, and reads the file into our own environment.
      .option('--env-from <file>', 'variables, one NAME=VALUE per line', collect, [])
      .option('-i, --interactive', 'pass on what is typed, also from a terminal')
      .option('-n, --no-input', 'give it no input, whatever is piped to us')
      .option('-d, --detach', 'leave it running, and print its id')
      .option(
        '--request-id <id>',
        'with --detach: start it at most once, however often this is called with the same id',
      )
      .option('--max-output <bytes>', 'end it when it has written more than this', parseBytes)
      .option('--events', 'print what happens as lines of JSON, as it happens')
      .action(run(exec));
  },
};

export async function exec(
  context: RexContext,
  words: readonly string[],
  options: ExecOptions,
): Promise<number> {
  const { target, argv } = readWords(context, words, options);
  context.takeTimeout(); // it is the time of the command, not of the way there
  const choice = await context.choose(target);
  const connection = await context.open(choice);
  const { client } = connection;
  const request = execRequest(choice, { argv, options, context }, client.session.limits);
  if (options.detach === true) return await startDetached(context, connection, request);
  const piped = options.input && (options.interactive === true || inputKind() === 'data');
  try {
    return await runHere(context, connection, { ...request, ...(!piped && { stdin: '' }) }, options, piped);
  } catch (thrown) {
    if (isLost(thrown)) context.fail(sayLost(choice.alias));
    throw thrown;
  }
}

async function runHere(
  context: RexContext,
  { client, flow }: Connection,
  request: RexParams<'exec.start'>,
  options: ExecOptions,
  piped: boolean,
): Promise<number> {
  const running = await client.start(request);
  await using input = piped ? await openInput(running) : undefined;
  void input;
  if (context.json || options.events === true) {
    const { reportProcess } = await import('./report-process.js');
    return await reportProcess(context, running, { flow, events: options.events === true });
  }
  return await streamProcess(context, running, flow);
}

async function startDetached(
  context: RexContext,
  { client }: Connection,
  request: RexParams<'exec.start'>,
): Promise<number> {
  const { id, pid } = await client.start({ ...request, stdin: '' });
  if (context.json) await context.outJson({ process_id: id, pid });
  else await context.out(`${id}\n`);
  return 0;
}

/** Reads on until the process has ended; what it did not want stays unread. */
async function openInput(running: Input): Promise<AsyncDisposable> {
  const { pumpInput } = await import('./pump-input.js');
  const { stdin } = process;
  pumpInput(stdin, running).catch(() => running.endInput().catch(() => {}));
  return {
    [Symbol.asyncDispose]: () => {
      stdin.destroy();
      return Promise.resolve();
    },
  };
}

function parseBytes(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError(`--max-output: "${text}" is no number of bytes`);
  return Number(text);
}
