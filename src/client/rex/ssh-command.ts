// The command line of ssh for a target. The user's own ssh, with all of its configuration: keys, agents, jump hosts.

import { DEFAULT_COMMAND, type Target } from './target.js';

/** How long a connection that nobody uses stays open for the next one. */
export const PERSIST_SECONDS = 600;
const CONNECT_SECONDS = 15;

export interface SshOptions {
  /** Where the shared connections have their sockets; only the user may enter it. Absent: nothing is shared. */
  readonly controlFolder?: string | undefined;
  /** What runs there instead of the target's own command. */
  readonly command?: string;
}

/** For `spawn`, without a shell. The last word is the only one that a shell reads: the one on the other side. */
export function sshCommand(target: Target, options: SshOptions = {}): string[] {
  const { host, user, port, identityFile, sshOptions = [] } = target;
  return [
    'ssh',
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...(identityFile === undefined ? [] : ['-i', identityFile]),
    ...sshOptions,
    // What the target says comes first: of each option ssh takes the first value it meets.
    ...['BatchMode=yes', `ConnectTimeout=${CONNECT_SECONDS}`].flatMap(asOption),
    ...sharing(options.controlFolder).flatMap(asOption),
    '-T',
    '--',
    user === undefined ? host : `${user}@${host}`,
    options.command ?? target.command ?? DEFAULT_COMMAND,
  ];
}

function sharing(controlFolder: string | undefined): string[] {
  if (controlFolder === undefined) return [];
  return ['ControlMaster=auto', `ControlPath=${controlFolder}/%C`, `ControlPersist=${PERSIST_SECONDS}`];
}

function asOption(option: string): string[] {
  return ['-o', option];
}
