// Every command there is. A new one is a file beside this and a row here.

import type { Session } from '../session/session.js';
import type { Command } from './command.js';
import { makeHelpCommand } from './help.js';
import { infoCommand } from './info.js';

export const COMMANDS: readonly Command[] = [makeHelpCommand(commandsIn), infoCommand];

export function commandsIn({ topic }: Session): readonly Command[] {
  return COMMANDS.filter(({ where }) => where === undefined || where.includes(topic.type));
}

export function findCommand(verb: string): Command | undefined {
  return COMMANDS.find(({ name, aliases }) => name === verb || aliases?.includes(verb) === true);
}
