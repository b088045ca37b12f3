// `string --help`, `string help`, and what there is to say about each hub without asking the daemon.

import { helpText, UsageError } from '../flags.js';
import type { StringCommand } from './command.js';
import { USAGE } from './usage.js';

const HUB_HELP: Readonly<Record<string, readonly string[]>> = {
  app: [
    'string app                      installed apps, and those that are open',
    "string '/open app:NAME'         go to one",
  ],
  bash: [
    'string bash                     open shells',
    "string bash:NAME 'COMMAND'      a command in one; it is made on first use",
  ],
  tool: ['string tool                     installed tools'],
  event: [
    'string event                    the inbox, and the address of the webhook',
    'string event list [--all]       events; --all with acknowledged ones',
    'string event read ID            one event, whole',
    'string event ack ID             it is dealt with',
    'string event clear [--all]      remove acknowledged events, or all',
    'string event webhook show|create|rotate',
  ],
  system: [
    'string system                   the daemon, and what it serves',
    'string system status            one line about it',
    'string system stop              end it',
  ],
  agent: [
    'string agent                    all agents',
    'string agent list               the same, for programs',
    'string agent current            the one that commands are executed as',
    'string agent add ID [--home PATH] [--allow PATH,PATH]',
    'string agent use ID [--local]   the agent of calls that name none; --local: of this project',
    'string agent set-home ID PATH   give it another home',
    'string agent rm ID              remove it; its files stay',
  ],
};

export const helpCommand: StringCommand = async (context, words) => await context.print(helpAbout(words));

/** Of `help` and what follows it. Throws UsageError. */
export function helpAbout([, hub, extra]: readonly string[]): string {
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
  return hub === undefined ? helpText(USAGE) : hubHelp(hub);
}

/** Throws UsageError for what is no hub. */
export function hubHelp(hub: string): string {
  const lines = Object.hasOwn(HUB_HELP, hub) ? HUB_HELP[hub] : undefined;
  if (lines === undefined)
    throw new UsageError(`no help about "${hub}"; there is: ${Object.keys(HUB_HELP).join(', ')}`);
  return [`The hub ${hub}:`, ...lines.map((line) => `  ${line}`)].join('\n');
}
