// From a target to a client: by a connection that is kept open, else by one of our own.

import { RexClient } from '../../client/rex/rex-client.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import { VERSION } from '../../base/version.js';
import { Flow } from './flow.js';
import { borrowLink } from './keeper/borrow.js';
import { keepIdleMs } from './keeper/idle-time.js';
import { type KeeperSpec, keeperSpec } from './keeper/spec.js';
import { localRexdCommand } from './local-rexd.js';
import { privateFolder } from './private-folder.js';

export interface OpenOptions {
  /** Whether a connection that is kept open may be used, and one be left. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
}

export interface Connection {
  readonly client: RexClient;
  readonly flow: Flow;
}

const WHO = { clientName: 'rex', clientVersion: VERSION };

export async function openClient(choice: TargetChoice, options: OpenOptions): Promise<Connection> {
  const flow = new Flow();
  const command = await commandFor(choice);
  const spec =
    options.keep && keepIdleMs(process.env) !== 0 ? keeperSpec(choice, command, process.env) : undefined;
  const kept = spec === undefined ? 'none' : await borrowLink(spec);
  if (typeof kept === 'object') {
    const client = await RexClient.open(flow.wrap(kept.link), { ...WHO, opened: kept.session });
    flow.release(); // it was paused at the end of the keeper's word
    return { client, flow };
  }
  const client = await connectDirectly(choice, command, options.signal, flow);
  if (spec !== undefined && kept === 'absent') await keep(spec);
  return { client, flow };
}

async function connectDirectly(
  choice: TargetChoice,
  command: readonly string[],
  signal: AbortSignal,
  flow: Flow,
): Promise<RexClient> {
  const { connectTarget } = await import('../../client/rex/connect-target.js');
  return await connectTarget(choice, {
    ...WHO,
    localCommand: command,
    controlFolder: privateFolder(process.env),
    signal,
    wrapLink: (link) => flow.wrap(link),
  });
}

async function keep(spec: KeeperSpec): Promise<void> {
  const { startKeeper } = await import('./keeper/start.js');
  startKeeper(spec);
}

async function commandFor({ target }: TargetChoice): Promise<readonly string[]> {
  if (target === undefined) return localRexdCommand(process.env);
  const { sshCommand } = await import('../../client/rex/ssh-command.js');
  return sshCommand(target, { controlFolder: privateFolder(process.env) });
}
