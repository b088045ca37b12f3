// From a target to a client: this machine by a rexd of its own, another by the user's ssh, a daemon by its address.

import { toError } from '../../base/errors.js';
import type { Link } from '../../wire/transport/link.js';
import { type CommandLink, openCommandLink } from './command-link.js';
import { prepareControlFolder } from './control-folder.js';
import { explainFailure, explainOnline } from './explain-failure.js';
import type { ReconnectOptions } from './reconnect.js';
import { RexClient, type RexClientOptions } from './rex-client.js';
import type { TargetChoice } from './select-target.js';
import { sshCommand } from './ssh-command.js';
import type { SshTarget, Target } from './target.js';

export interface ConnectOptions extends Omit<RexClientOptions, 'reconnect'> {
  /** The rexd of this machine, for `local`. */
  readonly localCommand: readonly string[];
  /** Whether connections by ssh are kept for the next one; they are unless this is false. */
  readonly shareConnection?: boolean | undefined;
  /** Where they are kept, if not where `prepareControlFolder` says. */
  readonly controlFolder?: string | undefined;
  /** For whoever wants a hand in how the link is read. */
  readonly wrapLink?: (link: Link) => Link;
  /**
   * Whether the session is resumed over another connection, made the same way, when the first is lost. Then what it started
   * goes on without us for `windowMs`, also when it was not the connection that ended but this program.
   */
  readonly reconnect?: boolean | Omit<ReconnectOptions, 'connect'> | undefined;
}

/** Rejects with a ConnectError that says in plain words what is in the way. */
export async function connectTarget(choice: TargetChoice, options: ConnectOptions): Promise<RexClient> {
  const { alias, target } = choice;
  if (target !== undefined && target.transport !== 'ssh') return await connectDaemon(alias, target, options);
  const command = target === undefined ? options.localCommand : wayTo(target, options);
  const { reconnect = false } = options;
  const open = async (): Promise<CommandLink> => {
    // A server on this machine stays for its session when a link is lost, and must not be ended for it.
    const lingers = reconnect !== false && target === undefined;
    return await openCommandLink(command, { lingers });
  };
  const wrap = (made: Link): Link => options.wrapLink?.(made) ?? made;
  let link: CommandLink | undefined;
  try {
    link = await open();
    const compression =
      options.compression ?? (target === undefined ? 'off' : (target.compression ?? 'auto'));
    const again = async (): Promise<Link> => wrap(await open());
    return await openOver(wrap(link), target, { ...options, compression }, again);
  } catch (thrown) {
    const exit = link === undefined ? undefined : await link.exited;
    throw explainFailure({
      alias,
      remote: target !== undefined,
      error: toError(thrown),
      stderr: link?.stderr() ?? '',
      noise: link?.noise() ?? '',
      exitCode: exit?.code ?? undefined,
    });
  }
}

async function connectDaemon(
  alias: string,
  target: Exclude<Target, SshTarget>,
  options: ConnectOptions,
): Promise<RexClient> {
  const wrap = (made: Link): Link => options.wrapLink?.(made) ?? made;
  const open = async (): Promise<Link> => wrap(await openDaemonLink(target, options.signal));
  try {
    return await openOver(await open(), target, { ...options, compression: 'off' }, open);
  } catch (thrown) {
    options.signal?.throwIfAborted();
    throw explainOnline(alias, toError(thrown));
  }
}

/** Each is loaded when it is asked for: most who use a client have one kind of target. */
async function openDaemonLink(
  target: Exclude<Target, SshTarget>,
  signal: AbortSignal | undefined,
): Promise<Link> {
  if (target.transport === 'unix') {
    const { openUnixLink } = await import('./unix-link.js');
    return await openUnixLink(target.socket, { signal });
  }
  const { credentialsOf } = await import('./online.js');
  const online = { ...credentialsOf(target, process.env), signal };
  if (target.transport === 'ws') {
    const { openWebSocketLink } = await import('./websocket-link.js');
    return await openWebSocketLink(online);
  }
  const { openHttpLink } = await import('./http-link.js');
  return openHttpLink(online);
}

async function openOver(
  link: Link,
  target: Target | undefined,
  options: ConnectOptions,
  again: () => Promise<Link>,
): Promise<RexClient> {
  const { reconnect = false, ...rest } = options;
  const roots = options.workspaceRoots ?? target?.workspaceRoots ?? [];
  return await RexClient.open(link, {
    ...rest,
    ...(roots.length > 0 && { workspaceRoots: roots }),
    ...(reconnect !== false && { reconnect: { ...(reconnect === true ? {} : reconnect), connect: again } }),
  });
}

function wayTo(target: SshTarget, options: ConnectOptions): string[] {
  const { shareConnection = true, controlFolder = prepareControlFolder() } = options;
  return sshCommand(target, { controlFolder: shareConnection && controlFolder });
}
