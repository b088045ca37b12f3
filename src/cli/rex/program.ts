// The command line of rex: global options, the command that was chosen, its end as an exit code.

import { Command, CommanderError, type OptionValues } from 'commander';
import { LocalError, RpcError } from '../../base/errors.js';
import { nearest } from '../../base/nearest.js';
import { VERSION } from '../../base/version.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import type { CommandRow, RexCommand, Task } from './command.js';
import { COMMANDS } from './commands.js';
import { type GlobalOptions, RexContext } from './context.js';
import type { Failure } from './exec-at-once.js';
import { leave } from '../leave.js';
import { parseDuration } from '../parse-duration.js';
import { untilInterrupted } from '../until-interrupted.js';

const EXAMPLES: RexCommand['examples'] = [
  ['rex exec local -- uname -a', 'run a command on this machine'],
  ['rex exec server-a -- make test', 'the same on a target, output live, exit code passed on'],
];

export async function runRex(args: readonly string[]): Promise<void> {
  await leave(
    'rex',
    async () => {
      try {
        return await main(args);
      } catch (thrown) {
        if (!(thrown instanceof CommanderError)) throw thrown;
        if (thrown.exitCode === 0) return EXIT.ok; // help or the version, which were printed
        throw new UsageError(thrown.message.replace(/^error: /, ''));
      }
    },
    helpFor(args),
  );
}

function helpFor(args: readonly string[]): string {
  const name = args.find((word) => COMMANDS.some((row) => row.name === word));
  return name === undefined ? 'rex --help' : `rex ${name} --help`;
}

/** How rex ends when what it tried the short way could not be done. */
export async function failRex({ code, message, data }: Failure): Promise<void> {
  await leave('rex', () =>
    Promise.reject(
      code === undefined ? new LocalError('failed', message) : new RpcError(code, message, { data }),
    ),
  );
}

async function main(args: readonly string[]): Promise<number> {
  const dashes = args.indexOf('--');
  const head = dashes === -1 ? args : args.slice(0, dashes);
  const program = defineProgram();
  const [name] = program.parseOptions([...head]).operands;
  const row = COMMANDS.find((each) => each.name === name);
  if (row === undefined) return await runWithout(program, name, head);
  const rest = row.takesRest === true && dashes !== -1 ? args.slice(dashes + 1) : undefined;
  return await runCommand(program, row, rest === undefined ? args : head, rest);
}

/** Help, the version, or a name that nothing has. */
async function runWithout(
  program: Command,
  name: string | undefined,
  args: readonly string[],
): Promise<number> {
  const words = name === 'help' ? args.filter((word) => word !== 'help') : args;
  const topic = name === 'help' ? COMMANDS.find((row) => words.includes(row.name)) : undefined;
  if (topic !== undefined) return await runCommand(program, topic, [topic.name, '--help'], undefined);
  if (name !== undefined && name !== 'help') {
    const close = nearest(
      name,
      COMMANDS.map((row) => row.name),
    );
    throw new UsageError(`unknown command "${name}"${close === undefined ? '' : `; did you mean ${close}?`}`);
  }
  for (const row of COMMANDS) program.command(row.name).description(row.summary);
  if (words.length === 0) {
    program.outputHelp({ error: name === undefined });
    return name === undefined ? EXIT.usage : EXIT.ok;
  }
  await program.parseAsync([...words], { from: 'user' });
  return EXIT.usage;
}

async function runCommand(
  program: Command,
  row: CommandRow,
  args: readonly string[],
  rest: readonly string[] | undefined,
): Promise<number> {
  const { define, examples } = await row.load();
  const command = program.command(row.name).description(row.summary);
  command.addHelpText('after', sayExamples(examples)).showSuggestionAfterError(true);
  let code: number = EXIT.ok;
  const run =
    <Options extends OptionValues>(task: Task<Options>) =>
    async (...given: unknown[]): Promise<void> => {
      const chosen = given.at(-1) as Command;
      await using context = new RexContext(program.opts<GlobalOptions>(), rest);
      const work = task(context, chosen.args, chosen.opts<Options>());
      code = (await untilInterrupted(work, context.signal)) ?? EXIT.ok;
      context.leaveIfDone(code);
    };
  define(command, run);
  await program.parseAsync([...args], { from: 'user' });
  return code;
}

function defineProgram(): Command {
  return new Command('rex')
    .description('Run commands and edit files on any host, through your own ssh.')
    .option('-t, --target <name>', 'the target, where a command does not take it as its first word')
    .option('--json', 'print data as JSON, and nothing else on stdout')
    .option('-q, --quiet', 'say nothing but errors')
    .option('--cwd <dir>', 'the folder on the target to work in')
    .option('--timeout <time>', 'give up after this long: 90, 90s, 5m, 1h, 500ms', parseDuration)
    .option('--no-keep', 'use a connection of its own, and leave none open for the next call')
    .version(`rex ${VERSION}`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => {} }) // told by `tell`, once
    .addHelpText('after', `${sayExamples(EXAMPLES)}\n${NOTES}`);
}

const NOTES = `
"rex COMMAND --help" tells more of each. local is always a target: this machine.
Exit codes: 0 done, 1 failed, 2 wrong usage, 124 out of time, 130 interrupted; a remote command's own code is passed on,
and 128 and the number of the signal when one ended it.`;

function sayExamples(examples: RexCommand['examples']): string {
  const lines = examples.flatMap(([command, what]) => [`  # ${what}`, `  ${command}`]);
  return `\nExamples:\n${lines.join('\n')}`;
}
