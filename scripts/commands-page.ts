// The page of the commands of String in docs/protocol, written from the tables that `/help` reads.

import { COMMAND_GROUPS, type Command, GROUP_TITLES } from '../src/string/command.js';
import { COMMANDS, HUB_VERBS } from '../src/string/commands/table.js';
import { META_COMMANDS } from '../src/string/bash/meta-commands.js';
import { tableOf } from './protocol-page.js';

export function renderCommandsPage(): string {
  const shell = new Set(META_COMMANDS.values());
  return [
    '# Commands of String',
    'Written by `npm run docs` from `src/string/commands/table.ts`; do not edit. `/help` shows the ones of the topic it is asked in.',
    'The first line of a message is the command, all that follows is its body. Capital words stand for what you say, `[…]` may be left out. *Everywhere* is in every topic but those of shells.',
    ...COMMAND_GROUPS.flatMap((group) => {
      const rows = COMMANDS.filter((command) => command.group === group);
      return rows.length === 0 ? [] : [`## ${GROUP_TITLES[group]}`, tableOfCommands(rows)];
    }),
    '## Only in a hub',
    ...Object.entries(HUB_VERBS).flatMap(([hub, verbs]) => [`### \`${hub}\``, tableOfCommands(verbs)]),
    '## Beside a shell',
    'In a `bash:` topic everything is for the shell, but for these.',
    tableOf(
      ['command', 'what it does'],
      [...shell].map(({ usage, summary }) => [code(usage.replace(/^\/?\//u, '//')), summary]),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function tableOfCommands(commands: readonly Command[]): string {
  return tableOf(
    ['command', 'what it does', 'also', 'where'],
    commands.map(({ usage, summary, aliases = [], where }) => [
      code(usage),
      summary,
      aliases.map((alias) => `\`/${alias}\``).join(', '),
      where === undefined ? 'everywhere' : `${where.join(', ')} topics`,
    ]),
  );
}

function code(text: string): string {
  return `\`${text}\``;
}
