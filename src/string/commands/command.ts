// The form of a command: what it is called, what it is for, where it may be used, and what it does.

import type { Log } from '../../base/log.js';
import type { CommandLine } from '../command-line.js';
import type { CommandResult } from '../result.js';
import type { AgentPlace, RuntimeServices } from '../services.js';
import type { Session } from '../session/session.js';
import type { TopicType } from '../topic.js';

export const COMMAND_GROUPS = ['navigate', 'inspect', 'state', 'topics', 'events', 'hub'] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

export interface Command {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly group: CommandGroup;
  readonly usage: string;
  readonly summary: string;
  /** Everywhere unless said. */
  readonly where?: readonly TopicType[];
  run(call: CommandCall): CommandResult | Promise<CommandResult>;
}

export interface CommandCall {
  readonly line: CommandLine;
  readonly session: Session;
  readonly runtime: RuntimeParts;
  readonly signal: AbortSignal;
  /** Output while the command runs, for clients that asked for it. */
  readonly emit: ((chunk: string) => void) | undefined;
}

/** What a command can reach beyond its own topic. */
export interface RuntimeParts {
  readonly agent: AgentPlace;
  readonly services: RuntimeServices;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly log: Log;
}
