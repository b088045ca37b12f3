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
    name: 'shell',
    summary: 'a terminal on a target',
    takesRest: true,
    load: async () => (await import('./shell.js')).shellCommand,
  },
  {
    name: 'ps',
    summary: 'the processes that were left running on a target',
    load: async () => (await import('./ps.js')).psCommand,
  },
  {
    name: 'attach',
    summary: 'follow a process that was left running, to its end',
    load: async () => (await import('./attach.js')).attachCommand,
  },
  {
    name: 'logs',
    summary: 'what a process that was left running has written',
    load: async () => (await import('./logs.js')).logsCommand,
  },
  {
    name: 'kill',
    summary: 'end a process that was left running, or send it a signal',
    load: async () => (await import('./kill.js')).killCommand,
  },
  {
    name: 'audit',
    summary: 'what was asked of a target, from its audit log',
    load: async () => (await import('./audit.js')).auditCommand,
  },
  {
    name: 'read',
    summary: 'print files of a target',
    load: async () => (await import('./read.js')).readCommand,
  },
  {
    name: 'write',
    summary: 'write a file',
    load: async () => (await import('./write.js')).writeCommand,
  },
  {
    name: 'edit',
    summary: 'replace a text in a file, and show what changes',
    load: async () => (await import('./edit.js')).editCommand,
  },
  {
    name: 'ls',
    summary: 'list a folder',
    load: async () => (await import('./ls.js')).lsCommand,
  },
  {
    name: 'glob',
    summary: 'list the paths that match a pattern',
    load: async () => (await import('./glob.js')).globCommand,
  },
  {
    name: 'stat',
    summary: 'tell what is at a path',
    load: async () => (await import('./stat.js')).statCommand,
  },
  {
    name: 'search',
    summary: 'search for a text in files',
    load: async () => (await import('./search.js')).searchCommand,
  },
  {
    name: 'cp',
    summary: 'copy files, in both directions and between targets; cut copies go on',
    load: async () => (await import('./cp.js')).cpCommand,
  },
  {
    name: 'target',
    summary: 'the hosts commands can go to: add, list, test, install, use, which',
    load: async () => (await import('./target.js')).targetCommand,
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
