// A bus under test: ours as built or any other by its command line, on grounds of its own, with workers that do as they are told.

import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BusPeer, type Framing } from './bus-client.js';
import { freePort } from './free-port.js';
import { descendants, isAlive, type Running } from './proc.js';
import { bin, Program } from './program.js';
import { until } from './wait.js';
import { removeFolder } from './remove-folder.js';

/** The bus to test as a JSON array of words, or as words with spaces between; `npm run conformance -- bus --target` sets the first. */
export const BUS_VARIABLES = ['HAWSER_CONFORMANCE_TARGET', 'HAWSER_BUS_COMMAND'] as const;

export type BusMode = 'unix' | 'tcp' | 'stdio';

export interface BusStart {
  readonly mode?: BusMode;
  /** Pools as in the configuration; one of the usual worker when absent. */
  readonly pools?: readonly object[];
  /** For the one pool: flags of the worker, its number, and whatever else a pool has. */
  readonly worker?: readonly string[];
  readonly instances?: number;
  readonly pool?: object;
  readonly limits?: Readonly<Record<string, number>>;
  /** What the configuration has beside pools and limits. */
  readonly config?: object;
  /** Where it listens; by default in a folder of its own. */
  readonly socket?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly framing?: Framing;
  /** Waits until every worker of every pool has started. */
  readonly awaitWorkers?: boolean;
}

const READY_MS = 60_000;

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/bus/${name}`, import.meta.url));

/** A pool of the worker that does as it is told. */
export function poolOf(id: string, instances = 1, flags: readonly string[] = [], more: object = {}): object {
  return { id, command: process.execPath, args: [fixture('worker.mjs'), ...flags], instances, ...more };
}

export interface WorkerNote {
  readonly pid: number;
  readonly at: number;
  readonly start?: boolean;
  readonly end?: boolean;
  readonly signal?: string;
  readonly line?: string;
  /** Instead of a line that is too long to be noted. */
  readonly bytes?: number;
}

export function isForeign(): boolean {
  return foreign() !== undefined;
}

/** For what is about our own bus: its command line, its additions to the configuration, its answers. */
export function skipForeign(skip: (reason: string) => void): void {
  if (isForeign()) skip('it is about our own bus');
}

export class BusUnderTest extends Program {
  readonly base: string;
  readonly socket: string;
  readonly mode: BusMode;
  readonly framing: Framing;
  #address: { readonly path: string } | { readonly host: string; readonly port: number } = { path: '' };
  #stdio: BusPeer | undefined;

  static async start(start: BusStart = {}): Promise<BusUnderTest> {
    const base = makeBase();
    const mode = start.mode ?? 'unix';
    const port = mode === 'tcp' && isForeign() ? await freePort() : 0;
    writeConfig(base, start);
    const bus = new BusUnderTest(base, mode, port, start);
    try {
      await bus.#ready(port);
      if (start.awaitWorkers !== false) await bus.#workersStarted(start);
    } catch (thrown) {
      await bus[Symbol.asyncDispose]();
      throw new Error(`${String(thrown)}; stderr: ${bus.stderr}`, { cause: thrown });
    }
    return bus;
  }

  private constructor(base: string, mode: BusMode, port: number, start: BusStart) {
    const socket = start.socket ?? join(base, 'bus.sock');
    const listen = {
      unix: ['--unix', socket],
      tcp: ['--tcp', `127.0.0.1:${port}`],
      stdio: ['--stdio'],
    }[mode];
    const args = [...listen, ...(start.args ?? [])].map((word) => word.replaceAll('{base}', base));
    super([...busCommand(), '--config', join(base, 'bus.json'), ...args], { env: { ...start.env } });
    this.base = base;
    this.mode = mode;
    this.framing = start.framing ?? 'ndjson';
    this.socket = socket;
    if (mode === 'unix') this.#address = { path: socket };
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get config(): string {
    return join(this.base, 'bus.json');
  }

  get port(): number {
    return 'port' in this.#address ? this.#address.port : 0;
  }

  /** A further client; in stdio mode the only one there is. */
  async connect(): Promise<BusPeer> {
    if (this.mode !== 'stdio') return await BusPeer.connect(this.#address, this.framing);
    this.#stdio ??= new BusPeer(this.child.stdout, this.child.stdin, this.framing);
    return this.#stdio;
  }

  /** A file whose appearance workers wait for; it appears with `open`. */
  gate(name: string): { readonly path: string; open: () => void } {
    const path = join(this.base, `gate-${name}`);
    return { path, open: () => writeFileSync(path, '') };
  }

  /** What the workers have noted: their starts and every line they read. */
  notes(): WorkerNote[] {
    const file = join(this.base, 'workers.log');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as WorkerNote);
  }

  starts(): number {
    return this.notes().filter(({ start }) => start === true).length;
  }

  /** Processes of the fixture below the bus. */
  workers(): Running[] {
    return descendants(this.pid).filter(({ command }) => command.includes('fixtures/bus/'));
  }

  rewriteConfig(start: BusStart): void {
    writeConfig(this.base, start);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    const below = descendants(this.pid).map(({ pid }) => pid);
    await super[Symbol.asyncDispose]();
    await until(() => !below.some(isAlive), 'the workers to be gone', isForeign() ? 5000 : 60_000).catch(
      () => {
        for (const pid of below) if (isForeign() && isAlive(pid)) process.kill(pid, 'SIGKILL'); // another's orphans
      },
    );
    removeFolder(this.base);
  }

  async #ready(port: number): Promise<void> {
    if (this.mode === 'stdio') return;
    if (this.mode === 'tcp') {
      const announced = (): number =>
        port !== 0 ? port : Number(/listening on tcp:\S*:(\d+)/.exec(this.stderr)?.[1] ?? 0);
      await until(() => this.#gone() || announced() > 0, 'the bus to announce its port', READY_MS);
      this.#address = { host: '127.0.0.1', port: announced() };
    }
    await until(
      async () => this.#gone() || (await this.connect().then(closeAtOnce, () => false)),
      'the bus to listen',
      READY_MS,
    );
    this.#mustLive();
  }

  #mustLive(): void {
    if (this.#gone()) throw new Error(`the bus ended with ${this.child.exitCode ?? this.child.signalCode}`);
  }

  async #workersStarted(start: BusStart): Promise<void> {
    const pools = (start.pools ?? [{ instances: start.instances ?? 1 }]) as { instances?: number }[];
    const wanted = pools.reduce((sum, { instances }) => sum + (instances ?? 1), 0);
    await until(() => this.#gone() || this.workers().length >= wanted, `${wanted} workers`, READY_MS);
    // A process that can be seen is not yet one that the bus knows to be there: ours tells when it knows of all.
    if (!isForeign())
      await until(() => this.#gone() || this.stderr.includes('listening'), 'the word of the bus', READY_MS);
    this.#mustLive();
  }

  #gone(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

/** The command of the bus under test, without flags. */
export function busCommand(): [string, ...string[]] {
  return foreign() ?? [process.execPath, bin('stdio-bus')];
}

export function makeBase(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'hawser-bus-')));
}

export function writeConfig(base: string, start: BusStart): void {
  const flags = [`--log=${join(base, 'workers.log')}`, ...(start.worker ?? [])];
  const pools = start.pools ?? [poolOf('w', start.instances ?? 1, flags, start.pool)];
  const transport = start.framing === undefined ? {} : { transport: { framing: start.framing } };
  const config = {
    pools,
    ...(start.limits !== undefined && { limits: start.limits }),
    ...transport,
    ...start.config,
  };
  writeFileSync(join(base, 'bus.json'), JSON.stringify(config, undefined, 1).replaceAll('{base}', base));
}

function foreign(): [string, ...string[]] | undefined {
  const given = BUS_VARIABLES.map((name) => process.env[name]).find((value) => value !== undefined);
  if (given === undefined) return undefined;
  return (given.startsWith('[') ? JSON.parse(given) : given.split(' ')) as [string, ...string[]];
}

async function closeAtOnce(peer: BusPeer): Promise<true> {
  await peer[Symbol.asyncDispose]();
  return true;
}
