// rex shell: a terminal on a target, with ours at the other end of it.

import type { RexParams } from '../../client/rex/rex-methods.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import type { RemoteTerminal } from '../../client/rex/rex-client.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import { collect } from './collect.js';
import type { RexCommand } from './command.js';
import type { RexContext } from './context.js';
import { readEnvironment } from './exec-options.js';
import { OwnTerminal } from './own-terminal.js';
import { pumpInput } from './pump-input.js';
import { writeTo } from '../standard-output.js';
import { untilEscape } from './until-escape.js';

interface ShellOptions {
  readonly env: readonly string[];
}

/** Of the variables that say what a terminal can do, those that a program there should know of ours. */
const TERMINAL_VARIABLES = ['TERM', 'COLORTERM', 'LANG', 'LC_ALL', 'LC_CTYPE'];
/** How long after the sign to leave the other side may take to end. */
const LEAVE_MS = 1000;
/** As a shell reports a program that was ended by SIGHUP. */
const HUNG_UP = 129;
const LOGIN_SHELL = 'exec "${SHELL:-/bin/sh}" -l';

export const shellCommand: RexCommand = {
  examples: [
    ['rex shell server-a', 'your shell there'],
    ['rex shell server-a -- htop', 'a program that wants a terminal'],
    ['rex shell local --cwd /srv -- python3', 'on this machine, in a folder'],
  ],
  define: (command, run) => {
    command
      .usage('[options] [TARGET] [-- COMMAND [ARGS...]]')
      .argument('[target]', 'where; without one, see "rex target which"')
      .argument('[words...]', 'a program instead of your shell, best after --')
      .option('-e, --env <name=value>', 'a variable for it; a bare NAME is taken from here', collect, [])
      .action(run(shell));
    command.addHelpText(
      'after',
      '\nIf nothing helps: Enter, then ~ and . at the beginning of a line, leaves.',
    );
  },
};

async function shell(context: RexContext, words: readonly string[], options: ShellOptions): Promise<number> {
  const [target, ...more] = words;
  const argv = context.rest ?? more;
  if (context.rest !== undefined && more.length > 0)
    throw new UsageError(`what is "${more.join(' ')}"? The program goes after --`);
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    context.fail(
      'a shell needs a terminal, and this is none',
      'Without one, use: rex exec TARGET -- COMMAND',
      EXIT.usage,
    );
  context.takeTimeout(); // it is the time of the program, not of the way there
  const choice = await context.choose(target);
  const { client } = await context.open(choice);
  using own = new OwnTerminal();
  const terminal = await client.openTerminal(request(context, choice, { argv, options, own }));
  context.onInterrupt((signal) => {
    own[Symbol.dispose]();
    process.exit(signal === 'SIGINT' ? EXIT.interrupted : signal === 'SIGTERM' ? 143 : 129);
  });
  return await join(context, terminal, own);
}

function request(
  context: RexContext,
  choice: TargetChoice,
  given: { readonly argv: readonly string[]; readonly options: ShellOptions; readonly own: OwnTerminal },
): RexParams<'pty.open'> {
  const cwd = context.folderOn(choice);
  const timeoutMs = context.takeTimeout();
  const known = TERMINAL_VARIABLES.filter((name) => process.env[name] !== undefined);
  return {
    ...(given.argv.length > 0 ? { argv: [...given.argv] } : { shell: true, command: LOGIN_SHELL }),
    ...(cwd !== undefined && { cwd }),
    ...given.own.size,
    env: readEnvironment({ env: [...known, ...given.options.env], envFrom: [] }, process.env),
    ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
  };
}

async function join(context: RexContext, terminal: RemoteTerminal, own: OwnTerminal): Promise<number> {
  const { process: program } = terminal;
  own.open((size) => void terminal.resize(size).catch(() => {}));
  let left = false;
  const typed = untilEscape(process.stdin, () => {
    left = true;
    void program.kill('HUP').catch(() => {});
    // Its word is waited for, but not for long: the sign is there for when nobody answers.
    setTimeout(() => {
      own[Symbol.dispose]();
      context.say('rex: left');
      process.exit(HUNG_UP);
    }, LEAVE_MS).unref();
  });
  const input = {
    write: (bytes: string | Uint8Array) => program.write(bytes),
    endInput: () => Promise.resolve(),
  };
  void pumpInput(typed, input).catch(() => {});
  for await (const { bytes } of program) await writeTo(process.stdout, bytes);
  const exit = await program.exit;
  own[Symbol.dispose]();
  if (left) context.say('rex: left');
  return exit.timedOut ? EXIT.timeout : exit.exitCode;
}
