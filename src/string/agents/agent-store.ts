// The agents: all of them in memory, each change on the disk before it is told.

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errnoOf, LocalError, toError } from '../../base/errors.js';
import { makeFolders } from '../../host/make-folders.js';
import { JsonStore } from '../../host/store/json-store.js';
import { findHomes } from './adopt-homes.js';
import { isAgentId, MAX_AGENT_ID_CHARS } from './agent-id.js';
import { AgentsFile, type AgentRecord, MAX_ALLOWED_PATHS, MAX_PATH_BYTES } from './agent-record.js';
import { newWebhookToken, TokenIndex } from './webhook-token.js';

/** Agents there may be: /mcp lets any local caller make one. */
export const MAX_AGENTS = 10_000;
/** Ids of deleted agents that are remembered, the newest ones. */
export const MAX_REMOVED_IDS = 10_000;

export interface AgentStoreOptions {
  readonly file: string;
  readonly homesDir: string;
  readonly adoptHomes: boolean;
}

export interface Registration {
  readonly id: string;
  readonly home?: string | undefined;
  readonly allowedPaths?: readonly string[] | undefined;
}

/** What cannot be registered; the message is for whoever asked. */
export class AgentError extends LocalError {
  override readonly name = 'AgentError';
}

export class AgentStore {
  readonly #store: JsonStore<AgentsFile>;
  readonly #homesDir: string;
  readonly #tokens = new TokenIndex();
  #agents = new Map<string, AgentRecord>();

  static async open(options: AgentStoreOptions): Promise<AgentStore> {
    const agents = new AgentStore(options);
    const file = await agents.#store.read();
    agents.#take(file);
    if (options.adoptHomes) await agents.#adopt(file.removed);
    return agents;
  }

  private constructor({ file, homesDir }: AgentStoreOptions) {
    this.#homesDir = homesDir;
    this.#store = new JsonStore({
      path: file,
      schema: AgentsFile,
      initial: () => ({ agents: [], removed: [] }),
    });
  }

  get size(): number {
    return this.#agents.size;
  }

  list(): AgentRecord[] {
    return [...this.#agents.values()];
  }

  get(id: string): AgentRecord | undefined {
    return this.#agents.get(id);
  }

  /** Makes the agent, or changes what is given of it and nothing else. Throws AgentError. */
  async register(given: Registration): Promise<{ agent: AgentRecord; created: boolean }> {
    const known = this.#agents.get(given.id);
    if (known !== undefined && !changes(known, given)) return { agent: known, created: false };
    check(given);
    if (known === undefined && this.#agents.size >= MAX_AGENTS) throw tooMany();
    // First: an agent whose home cannot be there is not registered at all.
    makeHome(given.home ?? known?.home ?? this.#homeOf(given.id));
    let created = false;
    const agent = await this.#change(given.id, (before) => {
      created = before === undefined;
      if (created && this.#agents.size >= MAX_AGENTS) throw tooMany();
      return merge(before ?? this.#newAgent(given.id), given);
    });
    return { agent, created };
  }

  /** False when there was none. Its home stays. */
  async remove(id: string): Promise<boolean> {
    if (!this.#agents.has(id)) return false;
    let removed = false;
    this.#take(
      await this.#store.update((file) => {
        removed = file.agents.some((agent) => agent.id === id);
        return {
          agents: file.agents.filter((agent) => agent.id !== id),
          removed: [...file.removed.filter((each) => each !== id), id].slice(-MAX_REMOVED_IDS),
        };
      }),
    );
    return removed;
  }

  /** The token of the agent's webhook, made if there is none; undefined for an unknown agent. */
  async webhookToken(id: string): Promise<string | undefined> {
    return this.#agents.get(id)?.webhookToken ?? (await this.#newToken(id, (agent) => agent.webhookToken));
  }

  /** A new token; the old one is worth nothing from now on. */
  async rotateToken(id: string): Promise<string | undefined> {
    return await this.#newToken(id, () => undefined);
  }

  agentOfToken(token: string): string | undefined {
    return this.#tokens.find(token);
  }

  async #newToken(id: string, keep: (agent: AgentRecord) => string | undefined): Promise<string | undefined> {
    if (!this.#agents.has(id)) return undefined;
    const agent = await this.#change(id, (before) => {
      if (before === undefined) throw new AgentError('unknown_agent', `Unknown agent: ${id}`);
      return { ...before, webhookToken: keep(before) ?? newWebhookToken() };
    });
    return agent.webhookToken;
  }

  async #change(id: string, make: (before: AgentRecord | undefined) => AgentRecord): Promise<AgentRecord> {
    let made: AgentRecord | undefined;
    this.#take(
      await this.#store.update((file) => {
        const at = file.agents.findIndex((agent) => agent.id === id);
        made = make(file.agents[at]);
        const agents = at === -1 ? [...file.agents, made] : file.agents.with(at, made);
        return { agents, removed: file.removed.filter((each) => each !== id) };
      }),
    );
    if (made === undefined) throw new Error('the store has changed nothing');
    return made;
  }

  #take({ agents }: AgentsFile): void {
    for (const { webhookToken } of this.#agents.values())
      if (webhookToken !== undefined) this.#tokens.delete(webhookToken);
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
    for (const { id, webhookToken } of agents)
      if (webhookToken !== undefined) this.#tokens.set(webhookToken, id);
  }

  async #adopt(removed: readonly string[]): Promise<void> {
    const found = findHomes(this.#homesDir).filter((id) => !this.#agents.has(id) && !removed.includes(id));
    if (found.length === 0) return;
    const adopted = found.slice(0, MAX_AGENTS - this.#agents.size).map((id) => this.#newAgent(id));
    this.#take(await this.#store.update((file) => ({ ...file, agents: [...file.agents, ...adopted] })));
  }

  #newAgent(id: string): AgentRecord {
    return { id, home: this.#homeOf(id), allowedPaths: [], createdAt: new Date().toISOString() };
  }

  #homeOf(id: string): string {
    return join(this.#homesDir, id);
  }
}

function makeHome(home: string): void {
  try {
    makeFolders(home);
    if (!statSync(home).isDirectory()) throw new Error('it is no folder');
  } catch (thrown) {
    const reason = errnoOf(thrown) ?? toError(thrown).message;
    throw new AgentError('bad_home', `home cannot be used: ${reason}`, { cause: thrown });
  }
}

function tooMany(): AgentError {
  return new AgentError('too_many_agents', `there are ${MAX_AGENTS} agents already`);
}

function check({ id, home, allowedPaths = [] }: Registration): void {
  if (!isAgentId(id))
    throw new AgentError(
      'bad_agent_id',
      `Invalid agent_id: expected 1 to ${MAX_AGENT_ID_CHARS} letters, digits, "_", "." or "-", and not "." or ".."`,
    );
  if (allowedPaths.length > MAX_ALLOWED_PATHS)
    throw new AgentError('too_many_paths', `at most ${MAX_ALLOWED_PATHS} allowed_paths can be given`);
  if (home !== undefined) checkPath('home', home);
  for (const path of allowedPaths) checkPath('allowed_paths', path);
}

function checkPath(name: string, path: string): void {
  if (!path.startsWith('/') || path.includes('\0') || Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new AgentError('bad_path', `${name}: expected an absolute path of at most ${MAX_PATH_BYTES} bytes`);
}

function changes(known: AgentRecord, given: Registration): boolean {
  return JSON.stringify(merge(known, given)) !== JSON.stringify(known);
}

function merge(agent: AgentRecord, { home, allowedPaths }: Registration): AgentRecord {
  return {
    ...agent,
    ...(home !== undefined && { home: resolve(home) }),
    ...(allowedPaths !== undefined && { allowedPaths: allowedPaths.map((path) => resolve(path)) }),
  };
}
