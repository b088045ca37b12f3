// The command line of ssh for a target. The user's own ssh, with all of its configuration: keys, agents, jump hosts.

import { createHash } from 'node:crypto';
import { DEFAULT_COMMAND, type SshTarget } from './target.js';

/** How long a connection that nobody uses stays open for the next one. */
export const PERSIST_SECONDS = 600;
const CONNECT_SECONDS = 15;
/** A dead connection is given up after so many questions, so far apart, without an answer: before `session.open` is. */
export const ALIVE_SECONDS = 5;
export const ALIVE_COUNT = 3;

export interface SshOptions {
  /**
   * Where the shared connections have their sockets; only the user may enter it. False: nothing is shared. Absent: as
   * the user's configuration says.
   */
  readonly controlFolder?: string | false | undefined;
  /** What runs there instead of the target's own command. */
  readonly command?: string;
}

/** For `spawn`, without a shell. The last word is the only one that a shell reads: the one on the other side. */
export function sshCommand(target: SshTarget, options: SshOptions = {}): string[] {
  const own = [...OPTIONS, ...sharing(target, options.controlFolder)];
  return [
    'ssh',
    ...wayTo(target),
    // What the target says comes first: of each option ssh takes the first value it meets.
    ...own.flatMap((option) => ['-o', option]),
    '-T',
    '--',
    target.user === undefined ? target.host : `${target.user}@${target.host}`,
    options.command ?? target.command ?? DEFAULT_COMMAND,
  ];
}

/** Stronger than the user's configuration, which is made for people at a terminal. */
const OPTIONS = [
  'BatchMode=yes', // nobody is there to be asked
  `ConnectTimeout=${CONNECT_SECONDS}`,
  `ServerAliveInterval=${ALIVE_SECONDS}`,
  `ServerAliveCountMax=${ALIVE_COUNT}`,
  'RemoteCommand=none', // together with a command of ours ssh would refuse
  'ClearAllForwardings=yes', // ports that a person's own connection holds are none of ours
  'LogLevel=INFO', // with less, ssh would not say what is wrong
];

function wayTo({ port, identityFile, sshOptions = [] }: SshTarget): string[] {
  return [
    ...(port === undefined ? [] : ['-p', String(port)]),
    ...(identityFile === undefined ? [] : ['-i', identityFile]),
    ...sshOptions,
  ];
}

function sharing(target: SshTarget, controlFolder: SshOptions['controlFolder']): string[] {
  if (controlFolder === undefined) return [];
  if (controlFolder === false) return ['ControlMaster=no', 'ControlPath=none'];
  const path = `${controlFolder}/%C-${nameOfWay(target)}`;
  return ['ControlMaster=auto', `ControlPath=${path}`, `ControlPersist=${PERSIST_SECONDS}`];
}

/** %C knows host, port and user, but not by which gate: behind two of them the same address is two machines. */
function nameOfWay(target: SshTarget): string {
  const words = JSON.stringify([target.host, target.user, ...wayTo(target)]);
  return createHash('sha256').update(words).digest('hex').slice(0, 8);
}
