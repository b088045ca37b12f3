// The runtimes of the agents: made when one is first needed, and gone when the agent is, or moves.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toError } from '../../base/errors.js';
import type { Log } from '../../base/log.js';
import { Resource } from '../../base/resource.js';
import { settleAll } from '../../base/settle-all.js';
import { Runtime, type RuntimeOptions } from '../runtime.js';
import type { AgentPlace } from '../services.js';

interface Held {
  readonly runtime: Runtime;
  /** Commands that run in it. */
  running: number;
  /** To be closed when nothing runs in it any more. */
  retired: boolean;
}

export class Runtimes extends Resource {
  readonly #make: (agent: AgentPlace) => Runtime;
  readonly #log: Log;
  readonly #dataDir: string;
  readonly #held = new Map<string, Held>();
  readonly #retired = new Set<Held>();

  constructor(options: Omit<RuntimeOptions, 'agent'>) {
    super();
    this.#log = options.log;
    this.#dataDir = options.dataDir;
    this.#make = (agent) => new Runtime({ ...options, agent });
  }

  /** Those that were at work when the last daemon ended: their topics are open again. */
  restore(agents: Iterable<AgentPlace>): void {
    for (const agent of agents) if (existsSync(join(this.#dataDir, 'sessions', agent.id))) this.#hold(agent);
  }

  of(agent: AgentPlace): Runtime {
    return this.#hold(agent).runtime;
  }

  /** The one that is there already. */
  find(agentId: string): Runtime | undefined {
    return this.#held.get(agentId)?.runtime;
  }

  *all(): Generator<Runtime> {
    for (const { runtime } of this.#held.values()) yield runtime;
  }

  /** Open topics of all agents. */
  get topics(): number {
    let count = 0;
    for (const runtime of this.all()) count += runtime.topicCount;
    return count;
  }

  /** `task` with the agent's runtime, which is not taken away before it is done. */
  async use<T>(agent: AgentPlace, task: (runtime: Runtime) => Promise<T>): Promise<T> {
    const held = this.#hold(agent);
    held.running += 1;
    try {
      return await task(held.runtime);
    } finally {
      held.running -= 1;
      if (held.retired && held.running === 0) await this.#close(held);
    }
  }

  /** The agent has another home now: the next command gets a new runtime, those that run keep theirs. */
  async retire(agentId: string): Promise<void> {
    const held = this.#held.get(agentId);
    if (held === undefined) return;
    this.#held.delete(agentId);
    held.retired = true;
    this.#retired.add(held);
    if (held.running === 0) await this.#close(held);
  }

  /** The agent is gone, and with it all that runs for it, and what its topics remember. */
  async remove(agentId: string): Promise<void> {
    const held = this.#held.get(agentId);
    this.#held.delete(agentId);
    if (held !== undefined) await this.#close(held, true);
  }

  protected async release(): Promise<void> {
    const all = [...this.#held.values(), ...this.#retired];
    this.#held.clear();
    await settleAll(all.map((held) => this.#close(held)));
  }

  #hold(agent: AgentPlace): Held {
    let held = this.#held.get(agent.id);
    if (held === undefined) {
      held = { runtime: this.#make(agent), running: 0, retired: false };
      this.#held.set(agent.id, held);
    }
    return held;
  }

  async #close(held: Held, isForgotten = false): Promise<void> {
    this.#retired.delete(held);
    const { runtime } = held;
    try {
      await (isForgotten ? runtime.discard() : runtime.close());
    } catch (thrown) {
      this.#log.error('a runtime could not be closed', { error: toError(thrown).message });
    }
  }
}
