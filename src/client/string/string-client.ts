// StringClient for Node: the same as everywhere, and it starts the daemon when there is none.

import { LocalError } from '../../base/errors.js';
import {
  DEFAULT_PORT,
  PING_TIMEOUT_MS,
  type StringClientOptions as AnywhereOptions,
  StringClient as AnywhereClient,
} from './browser.js';
import { startDaemon } from './start-daemon.js';
import type { WatchOptions } from './watch-events.js';

export {
  DEFAULT_AGENT,
  DEFAULT_PORT,
  DaemonUnreachableError,
  type EventCounts,
  type EventWatch,
  type ExecEvent,
  type ExecOptions,
  type ExecResult,
  type Health,
  NotStringdError,
  QUEUE_FULL,
  QUEUE_TIMEOUT,
  type RegisteredAgent,
  STREAM_INCOMPLETE,
  StringdError,
  stripContentPrefix,
  type WatchEventsOptions,
} from './browser.js';
export { DaemonStartError } from './start-daemon.js';

export interface StringClientOptions extends AnywhereOptions {
  /**
   * Whether a daemon is started when none answers: yes, unless a url is given. It lives on without us, until `shutdown`.
   * An object says how: another program, another environment, more time.
   */
  readonly autoStart?: boolean | AutoStart;
}

export interface AutoStart {
  readonly command?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export class StringClient extends AnywhereClient {
  readonly #autoStart: AutoStart | undefined;
  readonly #port: number;

  /** The port is STRING_PORT, else 3923, and the agent STRING_AGENT_ID, else `default`, unless said otherwise. */
  constructor(options: StringClientOptions = {}) {
    const port = options.port ?? readPort(process.env);
    const agentId = options.agentId ?? readText(process.env, 'STRING_AGENT_ID');
    super({ ...options, port, ...(agentId !== undefined && { agentId }) });
    this.#port = port;
    const { autoStart = options.url === undefined } = options;
    this.#autoStart = autoStart === true ? {} : autoStart === false ? undefined : autoStart;
  }

  /** Starts a daemon if none answers. False when there was one. Rejects with a DaemonStartError. */
  async start(): Promise<boolean> {
    if (await this.ping()) return false;
    await startDaemon({ ...this.#autoStart, port: this.#port, isThere: () => this.ping(PING_TIMEOUT_MS) });
    return true;
  }

  protected override async reach(): Promise<void> {
    if (this.#autoStart === undefined) await super.reach();
    else await this.start();
  }

  protected override watchDefaults(): WatchOptions {
    return { lastEventIdIn: 'header' };
  }
}

/** Throws for a value that is no port: a silent fallback would look for the daemon where nobody is. */
function readPort(env: NodeJS.ProcessEnv): number {
  const value = readText(env, 'STRING_PORT');
  if (value === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(value.trim()) ? Number(value) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new LocalError(
    'bad_config',
    `STRING_PORT=${JSON.stringify(value)}: expected a port, a whole number from 1 to 65535`,
  );
}

function readText(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}
