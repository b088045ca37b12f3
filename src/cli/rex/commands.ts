// The commands of `rex`, in the order in which the help shows them. One that is not chosen is not loaded.

import type { CommandRow } from './command.js';

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'exec',
    summary: 'run a command on a target',
    takesRest: true,
    load: async () => (await import('./exec.js')).execCommand,
  },
  {
    name: 'mcp',
    summary: 'serve the tools of a target to agents, by MCP',
    load: async () => (await import('./mcp.js')).mcpCommand,
  },
  {
    name: 'keep',
    summary: 'connections that are kept open between calls: see them, or close them',
    load: async () => (await import('./keep.js')).keepCommand,
  },
];
