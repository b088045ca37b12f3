// From a target to a client: by a connection that is kept open, else by one of our own.

import { RexClient } from '../../client/rex/rex-client.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import { VERSION } from '../../base/version.js';
import { Flow } from './flow.js';
import { borrowLink } from './keeper/borrow.js';
import { keepIdleMs } from './keeper/idle-time.js';
import { type KeeperSpec, keeperSpec } from './keeper/spec.js';
import { localRexdCommand } from './local-rexd.js';

export interface OpenOptions {
  /** Whether a connection that is kept open may be used, and one be left. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
}

/** A keeper that was asked. */
interface Asked {
  readonly spec: KeeperSpec;
  readonly kept: ReturnType<typeof borrowLink>;
}

export interface Connection {
  readonly client: RexClient;
  readonly flow: Flow;
  /** From a keeper, which closes its session. */
  readonly borrowed: boolean;
}

const WHO = { clientName: 'rex', clientVersion: VERSION };

export async function openClient(choice: TargetChoice, options: OpenOptions): Promise<Connection> {
  const flow = new Flow();
  const asked = await askKeeperFor(choice, options);
  const kept = asked === undefined ? 'none' : await asked.kept;
  if (typeof kept === 'object') {
    const client = await RexClient.open(flow.wrap(kept.link), { ...WHO, opened: kept.session });
    flow.release(); // it was paused at the end of the keeper's word
    return { client, flow, borrowed: true };
  }
  const client = await connectDirectly(choice, options, flow);
  if (asked !== undefined && kept === 'absent' && mayStartKeeper(process.env)) await keep(asked.spec);
  return { client, flow, borrowed: false };
}

async function askKeeperFor(choice: TargetChoice, options: OpenOptions): Promise<Asked | undefined> {
  if (!options.keep || keepIdleMs(process.env) === 0) return undefined;
  const command = await commandFor(choice);
  const spec = command === undefined ? undefined : keeperSpec(choice, command, process.env);
  return spec === undefined ? undefined : { spec, kept: borrowLink(spec) };
}

async function connectDirectly(
  choice: TargetChoice,
  { keep: shareConnection, signal }: OpenOptions,
  flow: Flow,
): Promise<RexClient> {
  const { connectTarget } = await import('../../client/rex/connect-target.js');
  return await connectTarget(choice, {
    ...WHO,
    localCommand: localRexdCommand(process.env),
    shareConnection,
    signal,
    wrapLink: (link) => flow.wrap(link),
  });
}

/** Inside a command of a rexd it would carry that command's mark, and end with it while others are using it. */
function mayStartKeeper(env: NodeJS.ProcessEnv): boolean {
  return env['HAWSER_MARK'] === undefined || env['REX_KEEP'] !== undefined;
}

async function keep(spec: KeeperSpec): Promise<void> {
  const { startKeeper } = await import('./keeper/start.js');
  startKeeper(spec);
}

/** Undefined for a daemon: nothing is started for it, so nothing is worth keeping. */
async function commandFor({ target }: TargetChoice): Promise<readonly string[] | undefined> {
  if (target === undefined) return localRexdCommand(process.env);
  if (target.transport !== 'ssh') return undefined;
  const [{ sshCommand }, { prepareControlFolder }] = await Promise.all([
    import('../../client/rex/ssh-command.js'),
    import('../../client/rex/control-folder.js'),
  ]);
  return sshCommand(target, { controlFolder: prepareControlFolder() });
}
