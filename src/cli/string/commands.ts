// The commands of `string` that are about the program, not about a topic. One that is not chosen is not loaded.

import type { StringCommand } from './command.js';

interface CommandRow {
  readonly name: string;
  readonly load: () => Promise<StringCommand>;
}

const COMMANDS: readonly CommandRow[] = [
  { name: 'daemon', load: async () => (await import('./daemon.js')).daemonCommand },
  { name: 'mcp', load: async () => (await import('./client-config.js')).mcpCommand },
  { name: 'completions', load: async () => (await import('./completions.js')).completionsCommand },
  { name: 'help', load: async () => (await import('./help.js')).helpCommand },
];

/** Undefined for a topic: one that is called like a command, too, when what follows is something to say in it. */
export function findCommand(words: readonly string[]): (() => Promise<StringCommand>) | undefined {
  const [name, next] = words;
  if (next?.startsWith('/') === true || next === '-') return undefined;
  return COMMANDS.find((row) => row.name === name)?.load;
}
