// The form of a command: what it is called, what it is for, where it may be used, and what it does.

import type { Log } from '../base/log.js';
import type { AgentPolicy } from './agent-policy.js';
import type { CommandLine } from './command-line.js';
import type { PageCache } from './document/page-cache.js';
import type { FileTurns } from './edit/file-turns.js';
import type { UndoStore } from './edit/undo-store.js';
import type { AgentFiles } from './files/agent-files.js';
import type { CommandResult } from './result.js';
import type { AgentPlace, RuntimeServices } from './services.js';
import type { Session } from './session/session.js';
import type { Sessions } from './session/sessions.js';
import type { Shells } from './shell/shells.js';
import type { Topic, TopicType } from './topic.js';

export const COMMAND_GROUPS = [
  'hub',
  'navigate',
  'inspect',
  'act',
  'edit',
  'state',
  'topics',
  'events',
] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

export const GROUP_TITLES: Readonly<Record<CommandGroup, string>> = {
  navigate: 'Navigate',
  inspect: 'Inspect',
  act: 'Actions and packages',
  edit: 'Edit',
  state: 'State and shell',
  topics: 'Topics',
  events: 'Events',
  hub: 'This hub',
};

export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly group: CommandGroup;
  readonly usage: string;
  readonly summary: string;
  /** Everywhere but in shells unless said: there it would be text for the shell. */
  readonly where?: readonly TopicType[];
  run(call: CommandCall): CommandResult | Promise<CommandResult>;
}

export interface CommandCall {
  readonly line: CommandLine;
  readonly session: Session;
  /** The topic in which it was said, when that is another one. */
  readonly from?: Session | undefined;
  readonly runtime: RuntimeParts;
  readonly signal: AbortSignal;
  /** Output while the command runs, for clients that asked for it. */
  readonly emit: ((chunk: string) => void) | undefined;
}

/** What a command can reach beyond its own topic. */
export interface RuntimeParts {
  readonly agent: AgentPlace;
  readonly services: RuntimeServices;
  readonly sessions: Sessions;
  readonly shells: Shells;
  readonly files: AgentFiles;
  readonly pages: PageCache;
  /** What pages and shells may do for this agent. */
  readonly policy: AgentPolicy;
  /** The way back from edits. */
  readonly undo: UndoStore;
  /** Edits of one file, one after the other. */
  readonly turns: FileTurns;
  /** Where outputs too long to be shown are kept. */
  readonly spoolDir: string;
  /** Tools for every agent of this machine. */
  readonly toolsDir: string | undefined;
  readonly log: Log;
  /** Ends a topic with all it has. False when it was not open. */
  closeTopic(topic: Topic): Promise<boolean>;
}
