// rex exec: a command on a target, as if it ran here: its streams, its exit code, its signals.

import { UsageError } from '../flags.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { writeTo } from './standard-output.js';

export const execCommand: RexCommand = {
  examples: [
    ['rex exec local -- uname -a', 'on this machine'],
    ['rex exec server-a -- make test', 'on a target'],
  ],
  define: (command, run) => {
    command
      .argument('[target]', 'where to run it; without one, see "rex target which"')
      .argument('[words...]', 'the command, best after --')
      .usage('[options] [TARGET] -- COMMAND [ARGS...]')
      .action(run(exec));
  },
};

async function exec(context: RexContext, words: readonly string[]): Promise<number> {
  const { target, argv } = readWords(context, words);
  const choice = await context.choose(target);
  const client = await context.connect(choice);
  const cwd = context.folderOn(choice);
  const running = await client.start({ argv: [...argv], stdin: '', ...(cwd !== undefined && { cwd }) });
  for await (const { stream, bytes } of running) await writeTo(process[stream], bytes);
  const { exitCode } = await running.exit;
  return exitCode;
}

function readWords(
  { rest }: RexContext,
  words: readonly string[],
): { target: string | undefined; argv: readonly string[] } {
  const [target, ...more] = words;
  const argv = rest ?? more;
  if (rest !== undefined && more.length > 0)
    throw new UsageError(`what is "${more.join(' ')}"? The command goes after --`);
  if (argv.length === 0) throw new UsageError('which command? rex exec TARGET -- COMMAND [ARGS...]');
  return { target, argv };
}
