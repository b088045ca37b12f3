// Every command there is. A new one is a file beside this and a row here.

import { AGENT_VERBS } from '../hubs/agent.js';
import { EVENT_HUB_VERBS } from '../hubs/event.js';
import { SYSTEM_VERBS } from '../hubs/system.js';
import type { Hub, Topic } from '../topic.js';
import { actCommand } from './act.js';
import { appendCommand } from './append.js';
import { closeCommand } from './close.js';
import type { Command } from '../command.js';
import { editCommand } from './edit.js';
import { eventsCommand } from './events.js';
import { execCommand } from './exec.js';
import { makeHelpCommand } from './help.js';
import { infoCommand } from './info.js';
import { installCommand, uninstallCommand } from './install.js';
import { lsCommand } from './ls.js';
import { openCommand } from './open.js';
import { navCommand } from './nav.js';
import { backCommand, historyCommand, refreshCommand, sourceCommand } from './page.js';
import { searchCommand } from './search.js';
import { replaceCommand } from './replace.js';
import { setCommand } from './set.js';
import { toolCommand } from './tool.js';
import { sessionCommand, topicsCommand } from './topics.js';
import { undoCommand } from './undo.js';
import { verifyCommand } from './verify.js';
import { writeCommand } from './write.js';

export const COMMANDS: readonly Command[] = [
  openCommand,
  backCommand,
  refreshCommand,
  navCommand,
  historyCommand,
  makeHelpCommand(commandsIn),
  infoCommand,
  sourceCommand,
  searchCommand,
  lsCommand,
  actCommand,
  toolCommand,
  installCommand,
  uninstallCommand,
  writeCommand,
  appendCommand,
  editCommand,
  replaceCommand,
  verifyCommand,
  undoCommand,
  setCommand,
  execCommand,
  topicsCommand,
  sessionCommand,
  closeCommand,
  eventsCommand,
];

/** What a hub can do beyond what can be done everywhere. */
export const HUB_VERBS: Readonly<Partial<Record<Hub, readonly Command[]>>> = {
  agent: AGENT_VERBS,
  event: EVENT_HUB_VERBS,
  system: SYSTEM_VERBS,
};

/** A verb of the hub comes before a command of the same name. */
export function commandsIn(topic: Topic): readonly Command[] {
  const verbs = topic.type === 'hub' ? (HUB_VERBS[topic.name] ?? []) : [];
  return [...verbs, ...COMMANDS.filter(({ where }) => where === undefined || where.includes(topic.type))];
}

/** For each kind of place, and each hub: the commands by all their names. Filled as they are asked for. */
const named = new Map<string, ReadonlyMap<string, Command>>();

export function findCommand(topic: Topic, verb: string): Command | undefined {
  const place = topic.type === 'hub' ? topic.name : topic.type;
  let commands = named.get(place);
  if (commands === undefined) named.set(place, (commands = nameAll(commandsIn(topic))));
  return commands.get(verb);
}

function nameAll(commands: readonly Command[]): ReadonlyMap<string, Command> {
  const all = new Map<string, Command>();
  for (const command of commands)
    for (const name of [command.name, ...(command.aliases ?? [])]) if (!all.has(name)) all.set(name, command);
  return all;
}
