// What a command of `rex` is: a row of the table, and the module that is loaded when it is chosen.

import type { Command, OptionValues } from 'commander';
import type { RexContext } from './context.js';

/** What a command does; what it resolves to is the exit code, and nothing is 0. */
export type Task<Options extends OptionValues> = (
  context: RexContext,
  args: readonly string[],
  options: Options,
) => Promise<number | undefined>;

/** Makes an action for commander of a task: `command.argument('<path>').action(run(async (context, [path]) => …))`. */
export type Run = <Options extends OptionValues = OptionValues>(
  task: Task<Options>,
) => (...given: unknown[]) => Promise<void>;

export interface RexCommand {
  /** Adds arguments, options and the action, or subcommands that have them. Name and summary are there already. */
  readonly define: (command: Command, run: Run) => void;
  /** Command and what it does, for the help. */
  readonly examples: readonly (readonly [string, string])[];
}

export interface CommandRow {
  readonly name: string;
  /** One line for `rex --help`. */
  readonly summary: string;
  readonly load: () => Promise<RexCommand>;
  /** What follows `--` is the business of another program: it is not parsed, and given as `context.rest`. */
  readonly takesRest?: boolean;
}
