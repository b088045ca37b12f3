// /help: every command that may be used in this topic, by what it is for.

import { succeed } from '../result.js';
import type { Topic } from '../topic.js';
import { COMMAND_GROUPS, type Command, GROUP_TITLES } from '../command.js';

/** The table is handed in: the help is itself a row of it. */
export function makeHelpCommand(commandsIn: (topic: Topic) => readonly Command[]): Command {
  return {
    name: 'help',
    group: 'inspect',
    usage: '/help',
    summary: 'this list, and the actions of the page',
    run: ({ session }) => {
      const actions = session.facts?.actions ?? [];
      const page =
        actions.length === 0
          ? ''
          : `\n\nActions on this page:\n${actions.map((id) => `  /act.${id}`).join('\n')}`;
      return succeed('String Commands', `${renderHelp(commandsIn(session.topic))}${page}`);
    },
  };
}

function renderHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length)) + 2;
  return COMMAND_GROUPS.map((group) => {
    const rows = commands.filter((command) => command.group === group);
    if (rows.length === 0) return undefined;
    return `${GROUP_TITLES[group]}:\n${rows.map(({ usage, summary }) => `  ${usage.padEnd(width)}${summary}`).join('\n')}`;
  })
    .filter((section) => section !== undefined)
    .join('\n\n');
}
