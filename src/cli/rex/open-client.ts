// From a target to a client.

import { VERSION } from '../../base/version.js';
import type { RexClient } from '../../client/rex/rex-client.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import { Flow } from './flow.js';
import { localRexdCommand } from './local-rexd.js';

export interface OpenOptions {
  /** Whether a connection that is kept open may be used, and one be left. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
}

export interface Connection {
  readonly client: RexClient;
  readonly flow: Flow;
}

export async function openClient(choice: TargetChoice, options: OpenOptions): Promise<Connection> {
  const { connectTarget } = await import('../../client/rex/connect-target.js');
  const flow = new Flow();
  const client = await connectTarget(choice, {
    clientName: 'rex',
    clientVersion: VERSION,
    localCommand: localRexdCommand(process.env),
    signal: options.signal,
    wrapLink: (link) => flow.wrap(link),
  });
  return { client, flow };
}
