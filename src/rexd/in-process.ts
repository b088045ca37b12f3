// A rexd inside this very program: a client over memory, for tools and tests that want no other process between them.

import { openLog } from '../base/log.js';
import { Roots } from '../guard/roots.js';
import type { Link } from '../wire/transport/link.js';
import { linkedPair } from '../wire/transport/memory.js';
import { loadConfig } from './config.js';
import { ownFolders, stateDirOf } from './own-folders.js';
import { prepareSandbox } from './prepare-sandbox.js';
import { RexdServer } from './server.js';

export interface InProcessOptions {
  /** Folders that the client may touch, beside those of the configuration. */
  readonly roots?: readonly string[];
  /** The usual one of this machine, when absent. */
  readonly configFile?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * For `RexClient.open`. Limits, policy and sandbox are those of the configuration; nothing is audited, and nothing outlives
 * this program, so no process can be detached. Closing the client ends the server.
 */
export async function openInProcess(options: InProcessOptions = {}): Promise<Link> {
  const { roots = [], environment = process.env } = options;
  const config = await loadConfig(options.configFile, environment);
  const stateDir = stateDirOf(config, environment);
  const own = ownFolders(stateDir, config, environment);
  const configured = config.security.allowed_roots.map(({ path }) => path);
  const { sandbox } = await prepareSandbox(config, own);
  const server = new RexdServer({
    facts: {
      roots: Roots.open([...configured, ...roots], { hardLinks: config.security.hard_links, withheld: own }),
      limits: config.limits,
      reportVersion: config.server.report_version,
      capabilities: ['exec', 'fs', 'events', ...(sandbox === undefined ? [] : ['sandbox'])],
      policy: config.policy,
      ...(sandbox !== undefined && { sandbox }),
      environment,
      passedVariables: config.security.pass_env,
      stateDir,
      allowDetach: false,
    },
    log: openLog({ name: 'rexd', level: config.server.log_level }),
  });
  const [near, far] = linkedPair();
  const served = server.serve(near);
  const close = async (): Promise<void> => {
    await far.close();
    await served;
    await server.close();
  };
  let closing: Promise<void> | undefined;
  return { ...far, close: () => (closing ??= close()) };
}
