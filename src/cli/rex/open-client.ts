// From a target to a client.

import { VERSION } from '../../base/version.js';
import type { RexClient } from '../../client/rex/rex-client.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import { localRexdCommand } from './local-rexd.js';

export interface OpenOptions {
  /** Whether a connection that is kept open may be used, and one be left. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
}

export async function openClient(choice: TargetChoice, options: OpenOptions): Promise<RexClient> {
  const { connectTarget } = await import('../../client/rex/connect-target.js');
  return await connectTarget(choice, {
    clientName: 'rex',
    clientVersion: VERSION,
    localCommand: localRexdCommand(process.env),
    signal: options.signal,
  });
}
