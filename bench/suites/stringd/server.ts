// One contender of the stringd suite: a server on a port of its own, started by its command line when it is first needed.

import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Resource } from '../../../src/base/resource.js';
import { BenchChild } from '../../harness/child.js';
import { childCpuMs } from '../../harness/cpu-time.js';
import type { Contender, Role } from '../../harness/types.js';
import { HttpLoad, LoadError, type LoadOrder, type LoadReport } from './http-load.js';
import { AGENT } from './messages.js';

/** How long a server may take to answer for the first time. */
const START_MS = 20_000;
const POLL_MS = 5;
/** More than the bench can post: what is measured is the inbox, not the limit that protects it. */
const WEBHOOK_RATE = '1000000';

export interface ServerFacts {
  readonly name: string;
  readonly role: Role;
  /** `{port}` in it stands for the port; a stringd is told by STRING_PORT as well. */
  readonly argv: readonly string[];
  /** A folder of its own, for whatever it keeps. */
  readonly folder: string;
  /** Ours and its peers have agents; the limits do not. */
  readonly isStringd: boolean;
}

export class Server extends Resource {
  readonly facts: ServerFacts;
  #starting: Promise<BenchChild> | undefined;
  #child: BenchChild | undefined;
  #port = 0;
  readonly #loads = new Map<string, HttpLoad>();

  constructor(facts: ServerFacts) {
    super();
    this.facts = facts;
  }

  get port(): number {
    return this.#port;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  cpuMs(): number {
    return this.#child === undefined ? 0 : childCpuMs(this.#child.pid);
  }

  /** Resolves when it answers, and has an agent where there are agents. */
  async start(): Promise<void> {
    await (this.#starting ??= this.#start());
  }

  async stop(): Promise<void> {
    for (const load of this.#loads.values()) load.close();
    this.#loads.clear();
    this.#child?.kill();
    await this.#child?.close();
    [this.#starting, this.#child] = [undefined, undefined];
  }

  /** `name` stands for one set of connections, kept from turn to turn. */
  async load(name: string, order: Omit<LoadOrder, 'port'>, requests: number): Promise<LoadReport> {
    await this.start();
    let load = this.#loads.get(name);
    if (load === undefined) this.#loads.set(name, (load = new HttpLoad({ ...order, port: this.#port })));
    try {
      return await load.run(requests);
    } catch (thrown) {
      throw thrown instanceof LoadError ? (this.#child?.failure(thrown.message) ?? thrown) : thrown;
    }
  }

  /** Closes the connections of that name. */
  drop(name: string): void {
    this.#loads.get(name)?.close();
    this.#loads.delete(name);
  }

  contender(run: Contender['run']): Contender {
    const { name, role } = this.facts;
    const contender = { name, role, run, cpuMs: () => this.cpuMs() };
    // Asked for again each turn: it may have been started anew.
    return Object.defineProperty(contender, 'pid', { get: () => this.pid });
  }

  /** Where events are posted to. */
  async webhookPath(): Promise<string> {
    await this.start();
    const answer = await fetch(`http://127.0.0.1:${this.#port}/agents/${AGENT}/webhook`);
    const { webhook_url: url } = (await answer.json()) as { webhook_url: string };
    return new URL(url).pathname;
  }

  protected override async release(): Promise<void> {
    await this.stop();
  }

  async #start(): Promise<BenchChild> {
    const { argv, name, folder, isStringd } = this.facts;
    mkdirSync(folder, { recursive: true });
    this.#port = await freePort();
    const port = String(this.#port);
    this.#child = await BenchChild.start(
      name,
      argv.map((word) => word.replaceAll('{port}', port)),
      {
        HOME: folder,
        STRING_PORT: port,
        STRING_ROOT: join(folder, 'string'),
        STRING_DATA_DIR: join(folder, 'string/daemon'),
        STRING_WEBHOOK_RATE: WEBHOOK_RATE,
      },
    );
    await this.#answers(this.#child);
    if (isStringd) await this.#register();
    return this.#child;
  }

  async #answers(child: BenchChild): Promise<void> {
    const end = Date.now() + START_MS;
    let hasEnded = false;
    const noteEnd = (): void => {
      hasEnded = true;
    };
    void child.ended.finally(noteEnd);
    for (;;) {
      const isThere = await fetch(`http://127.0.0.1:${this.#port}/health`).then(
        async (answer) => (await answer.arrayBuffer(), true),
        () => false,
      );
      if (isThere) return;
      if (hasEnded || Date.now() > end) throw child.failure('does not answer');
      await delay(POLL_MS);
    }
  }

  async #register(): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/agents`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ agent_id: AGENT }),
    });
    if (!answer.ok) throw this.#child?.failure(`does not register an agent: ${answer.status}`);
    await answer.arrayBuffer();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
