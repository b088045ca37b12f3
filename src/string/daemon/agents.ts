// The agents as the daemon knows them: a record, and what lives for it.

import { join } from 'node:path';
import type { AgentRecord } from '../agents/agent-record.js';
import { AgentError, type AgentStore, type Registration } from '../agents/agent-store.js';
import { writeCurrentAgent } from '../agents/current-agent.js';
import type { AgentDirectory, AgentPlace } from '../services.js';
import type { AgentLives } from './agent-lives.js';
import type { Runtimes } from './runtimes.js';

export interface AgentsParts {
  readonly store: AgentStore;
  readonly lives: AgentLives;
  readonly runtimes: () => Runtimes;
  /** `http://127.0.0.1:PORT`. */
  readonly url: () => string;
  /** Where everything of String is: `~/.string`. */
  readonly root: string;
}

export class Agents implements AgentDirectory {
  readonly store: AgentStore;
  readonly configFile: string;
  readonly #parts: AgentsParts;

  constructor(parts: AgentsParts) {
    this.#parts = parts;
    this.store = parts.store;
    this.configFile = join(parts.root, 'config.json');
  }

  async list(): Promise<readonly AgentPlace[]> {
    return this.store.list();
  }

  /** An agent that has moved gets a new runtime; what runs in the old one ends there. */
  async register(given: Registration): Promise<{ agent: AgentRecord; created: boolean }> {
    const before = this.store.get(given.id);
    const registered = await this.store.register(given);
    const { agent } = registered;
    const moved =
      before !== undefined &&
      (before.home !== agent.home || before.allowedPaths.join('\0') !== agent.allowedPaths.join('\0'));
    if (moved) void this.#parts.runtimes().retire(agent.id);
    return registered;
  }

  async remove(id: string): Promise<boolean> {
    const removed = await this.store.remove(id);
    this.#parts.lives.end(id);
    await this.#parts.runtimes().remove(id);
    return removed;
  }

  async use(id: string, { local }: { local: boolean }): Promise<{ file: string }> {
    if (local)
      throw new AgentError('not_local', 'only a client knows its project: use `string agent use ID --local`');
    await writeCurrentAgent(this.configFile, id);
    return { file: this.configFile };
  }

  async webhookUrl(id: string): Promise<string> {
    return this.#urlOf(id, await this.store.webhookToken(id));
  }

  async rotateWebhook(id: string): Promise<string> {
    return this.#urlOf(id, await this.store.rotateToken(id));
  }

  #urlOf(id: string, token: string | undefined): string {
    if (token === undefined) throw new AgentError('unknown_agent', `Unknown agent: ${id}`);
    return `${this.#parts.url()}/webhook/${token}`;
  }
}
