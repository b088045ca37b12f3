// One contender's bus, started for a shape of load and started anew for another; one at a time, so that none idles beside.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Resource } from '../../../src/base/resource.js';
import { BenchChild } from '../../harness/child.js';
import { childCpuMs } from '../../harness/cpu-time.js';
import { shapeOf } from './messages.js';

/** How long a bus may take to let clients in. */
const LISTEN_MS = 10_000;
const POLL_MS = 10;

export interface Setting {
  readonly mode: 'unix' | 'stdio';
  readonly workers: number;
  readonly bytes: number;
}

export interface Wire {
  readonly input: Readable;
  readonly output: Writable;
}

export interface StandFacts {
  readonly name: string;
  /** Without `--config` and where to listen, which are added. */
  readonly argv: readonly string[];
  /** A folder of its own. */
  readonly folder: string;
  /** The command line of the echo worker, without its arguments. */
  readonly worker: readonly string[];
  /** It gives back what it gets, and has no workers. */
  readonly copies?: boolean;
}

interface Running {
  readonly key: string;
  readonly child: BenchChild;
  readonly wires: Wire[];
}

export class Stand extends Resource {
  readonly facts: StandFacts;
  #running: Running | undefined;

  constructor(facts: StandFacts) {
    super();
    this.facts = facts;
  }

  get pid(): number | undefined {
    return this.#running?.child.pid;
  }

  /** Of the bus alone, without its workers and clients; 0 as long as there is none. */
  cpuMs(): number {
    return this.pid === undefined ? 0 : childCpuMs(this.pid);
  }

  /** So many clients of a bus with that setting: those of before, if it is the same. */
  async wires(setting: Setting, count: number): Promise<readonly Wire[]> {
    const key = JSON.stringify(setting);
    const { wires, child } = this.#running?.key === key ? this.#running : await this.#start(setting, key);
    while (wires.length < count) {
      if (setting.mode === 'stdio') wires.push({ input: child.stdout, output: child.stdin });
      else wires.push(await this.#connect(child));
    }
    return wires.slice(0, count);
  }

  /** A bus that has lost messages cannot be counted on any more. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    for (const { input } of running?.wires ?? []) input.destroy();
    await running?.child.close();
  }

  protected override async release(): Promise<void> {
    await this.stop();
  }

  async #start(setting: Setting, key: string): Promise<Running> {
    await this.stop();
    const { folder, argv, name } = this.facts;
    mkdirSync(folder, { recursive: true });
    rmSync(this.#socket, { force: true });
    const config = join(folder, 'bus.json');
    writeFileSync(config, JSON.stringify({ pools: [this.#pool(setting)] }));
    const listen = setting.mode === 'unix' ? ['--unix', this.#socket] : ['--stdio'];
    const child = await BenchChild.start(name, [...argv, '--config', config, ...listen]);
    this.#running = { key, child, wires: [] };
    return this.#running;
  }

  #pool({ workers, bytes }: Setting): object {
    const { echoAt } = shapeOf(bytes);
    const [command, ...args] = this.facts.worker;
    return { id: 'echo', command, args: [...args, String(bytes), String(echoAt)], instances: workers };
  }

  get #socket(): string {
    return join(this.facts.folder, 'bus.sock');
  }

  async #connect(child: BenchChild): Promise<Wire> {
    const end = Date.now() + LISTEN_MS;
    for (;;) {
      const socket = await tryConnect(this.#socket);
      if (socket !== undefined) return { input: socket, output: socket };
      if (Date.now() > end) throw child.failure('does not listen');
      await delay(POLL_MS);
    }
  }
}

function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });
}
