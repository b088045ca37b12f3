// A rexd that takes part in the suite, ours or a peer, with a session open in the workspace.

import { BenchChild } from '../../harness/child.js';
import type { Cleanup } from '../../harness/cleanup.js';
import { treeCpuMs } from '../../harness/cpu-time.js';
import { LineClient, type Reply } from '../../harness/line-client.js';
import { RequestPool } from '../../harness/request-pool.js';
import type { Contender, Role } from '../../harness/types.js';
import { openSession } from '../rexd-session.js';
import { type CommandCount, type CommandPlan, runCommands } from './commands.js';

/** A gigabyte through a slow peer takes half a minute. */
const TURN_TIMEOUT_MS = 180_000;
const CHECK_ID = 2;
/** Ours loses nothing: when it is silent the machine is busy, and to say otherwise would be a false alarm. */
const PATIENCE_MS = 20_000;

export class Daemon {
  readonly name: string;
  readonly role: Role;
  readonly client: LineClient;
  readonly #child: BenchChild;
  readonly #sessionId: string;

  static async start(
    name: string,
    role: 'ours' | 'peer',
    argv: readonly string[],
    cleanup: Cleanup,
  ): Promise<Daemon> {
    const child = cleanup.use(await BenchChild.start(name, argv));
    const client = new LineClient(child, TURN_TIMEOUT_MS);
    const sessionId = await openSession(name, client);
    const daemon = new Daemon(name, role, client, child, sessionId);
    // Some send a session's events only after it was named once.
    await daemon.check('session.info', {}, () => true);
    return daemon;
  }

  private constructor(name: string, role: Role, client: LineClient, child: BenchChild, sessionId: string) {
    this.name = name;
    this.role = role;
    this.client = client;
    this.#child = child;
    this.#sessionId = sessionId;
  }

  /** Asks once, and fails unless the answer is what was hoped for: who does less work is not faster. */
  async check(method: string, params: object, accepts: (result: unknown) => boolean): Promise<void> {
    const reply: Reply = await this.client.ask(CHECK_ID, method, this.#inSession(params));
    if (reply.result === undefined || !accepts(reply.result)) {
      const text = JSON.stringify(reply).slice(0, 300);
      throw this.#child.failure(`gave a wrong answer to ${method}: ${text}`);
    }
  }

  /** The same request again and again. */
  requests(method: string, params: object, lineCount?: number): RequestPool {
    return new RequestPool(method, this.#inSession(params), lineCount);
  }

  /** Losing anything is not slow but wrong, unless it is a peer who does: that is counted. */
  async commands(plan: CommandPlan, bytesEach: number): Promise<CommandCount> {
    const patience = this.role === 'ours' ? { patienceMs: PATIENCE_MS } : {};
    const count = await runCommands(this.client, this.#sessionId, { ...plan, ...patience });
    const whole = count.exits === plan.times && count.bytes === plan.times * bytesEach;
    if (!whole && this.role === 'ours') {
      throw this.#child.failure(
        `lost output: ${count.exits} of ${plan.times} exits, ${count.bytes} of ${plan.times * bytesEach} bytes came`,
      );
    }
    return count;
  }

  contender(run: Contender['run']): Contender {
    const { pid } = this.#child;
    return { name: this.name, role: this.role, run, cpuMs: () => treeCpuMs(pid), pid };
  }

  #inSession(params: object): object {
    return { session_id: this.#sessionId, ...params };
  }
}
