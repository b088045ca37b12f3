// The shells of one agent: one for each bash topic that has been used.

import { rmSync } from 'node:fs';
import { LocalError } from '../../base/errors.js';
import { Resource } from '../../base/resource.js';
import { settleAll } from '../../base/settle-all.js';
import type { OutputSpool } from '../../host/process/spool.js';
import { buildEnvironment } from '../../guard/child-environment.js';
import type { AgentPlace } from '../services.js';
import type { Session } from '../session/session.js';
import { BashShell } from './bash-shell.js';

/** Shells of one agent that run at the same time: each is a process and a terminal, of which a machine has few. */
export const MAX_SHELLS = 64;

export class TooManyShellsError extends LocalError {
  override readonly name = 'TooManyShellsError';

  constructor(max: number) {
    super('too_many_shells', `${max} shells are running. Close one with //close in its topic.`);
  }
}

/** A pager waits for keys, and whoever reads here reads it all anyway. */
export const NO_PAGER = { PAGER: 'cat', GIT_PAGER: 'cat', MANPAGER: 'cat' };

export interface ShellsOptions {
  readonly agent: AgentPlace;
  readonly folder: string;
  readonly spoolDir: string;
  readonly maxShells?: number;
}

export class Shells extends Resource {
  readonly #options: ShellsOptions;
  readonly #shells = new Map<string, BashShell>();
  readonly #starting = new Map<string, Promise<BashShell>>();
  readonly #spools = new Map<string, OutputSpool>();

  /** Removes what a daemon that was killed has left behind. */
  constructor(options: ShellsOptions) {
    super();
    this.#options = options;
    for (const folder of [options.folder, options.spoolDir]) rmSync(folder, { recursive: true, force: true });
  }

  get size(): number {
    return this.#shells.size;
  }

  /** Only one that runs. */
  get(topic: string): BashShell | undefined {
    const shell = this.#shells.get(topic);
    return shell?.alive === true ? shell : undefined;
  }

  /** The one that runs, or a new one. */
  async ensure(session: Session): Promise<BashShell> {
    const { name } = session.topic;
    const running = this.get(name);
    if (running !== undefined) return running;
    let starting = this.#starting.get(name);
    if (starting === undefined) {
      starting = this.#start(session).finally(() => this.#starting.delete(name));
      this.#starting.set(name, starting);
    }
    return await starting;
  }

  /** False when there was none. */
  async stop(topic: string): Promise<boolean> {
    const shell = this.#shells.get(topic) ?? (await this.#starting.get(topic)?.catch(() => undefined));
    this.#shells.delete(topic);
    await settleAll([shell?.close() ?? Promise.resolve(), this.#dropSpool(topic)]);
    return shell !== undefined;
  }

  /** An output too long to be shown stays until the next one of its topic. */
  async keepSpool(topic: string, spool: OutputSpool): Promise<void> {
    if (this.#spools.get(topic) === spool) return;
    await this.#dropSpool(topic);
    if (this.closing) await spool.close();
    else this.#spools.set(topic, spool);
  }

  protected async release(): Promise<void> {
    const topics = new Set([...this.#shells.keys(), ...this.#starting.keys(), ...this.#spools.keys()]);
    await settleAll([...topics].map((topic) => this.stop(topic)));
  }

  async #dropSpool(topic: string): Promise<void> {
    const spool = this.#spools.get(topic);
    this.#spools.delete(topic);
    await spool?.close();
  }

  async #start({ topic, variables }: Session): Promise<BashShell> {
    const { agent, folder, spoolDir, maxShells = MAX_SHELLS } = this.#options;
    if (this.#shells.size + this.#starting.size >= maxShells) throw new TooManyShellsError(maxShells);
    const shell = await BashShell.start({
      home: agent.home,
      cwd: agent.home,
      env: environmentOf(agent, variables),
      folder,
      spoolDir,
    });
    this.#shells.set(topic.name, shell);
    const forget = (): void => {
      if (this.#shells.get(topic.name) === shell) this.#shells.delete(topic.name);
    };
    shell.signal.addEventListener('abort', forget, { once: true });
    return shell;
  }
}

/** What a program needs of ours, the agent's home, and the topic's variables; those of a leading `_` are the runtime's. */
export function environmentOf(
  agent: AgentPlace,
  variables: ReadonlyMap<string, string>,
): Record<string, string> {
  const own = [...variables].filter(([name, value]) => !name.startsWith('_') && !value.includes('\0'));
  return { ...buildEnvironment(process.env, []), ...NO_PAGER, ...Object.fromEntries(own), HOME: agent.home };
}
