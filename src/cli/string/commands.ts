// The commands of `string` that are about the program, not about a topic. One that is not chosen is not loaded.

import { existsSync } from 'node:fs';
import type { StringCommand } from './command.js';

interface CommandRow {
  readonly name: string;
  /** Its first word may begin with a slash: it is a path when there is such a file. */
  readonly takesPath?: boolean;
  readonly load: () => Promise<StringCommand>;
}

const COMMANDS: readonly CommandRow[] = [
  { name: 'daemon', load: async () => (await import('./daemon.js')).daemonCommand },
  { name: 'mcp', load: async () => (await import('./client-config.js')).mcpCommand },
  { name: 'completions', load: async () => (await import('./completions.js')).completionsCommand },
  { name: 'lint', takesPath: true, load: async () => (await import('./lint.js')).lintCommand },
  { name: 'new', load: async () => (await import('./new.js')).newCommand },
  { name: 'help', load: async () => (await import('./help.js')).helpCommand },
];

/** Undefined for a topic: one that is called like a command, too, when what follows is something to say in it. */
export function findCommand(words: readonly string[]): (() => Promise<StringCommand>) | undefined {
  const [name, next] = words;
  const row = COMMANDS.find((each) => each.name === name);
  const isPath = row?.takesPath === true && next !== undefined && existsSync(next);
  if ((next?.startsWith('/') === true && !isPath) || next === '-') return undefined;
  return row?.load;
}
