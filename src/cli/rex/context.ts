// What a command of `rex` is given: its target, its streams, its signal, and a way to say that it cannot.

import { resolve } from 'node:path';
import type { RexClient } from '../../client/rex/rex-client.js';
import type { TargetChoice } from '../../client/rex/select-target.js';
import { settleAll } from '../../base/settle-all.js';
import { EXIT } from '../exit-codes.js';
import { UsageError } from '../flags.js';
import { chooseTarget } from './choose-target.js';
import { FailedError } from '../failed-error.js';
import { printableLines } from '../colours.js';
import { type Interrupt, Interrupts } from '../interrupts.js';
import { type Connection, openClient } from './open-client.js';
import { isAllWritten, writeTo } from '../standard-output.js';

export interface GlobalOptions {
  readonly target?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly cwd?: string;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly keep: boolean;
}

export class RexContext implements AsyncDisposable {
  /** Data as JSON, and nothing else on stdout. */
  readonly json: boolean;
  readonly quiet: boolean;
  /** What followed `--`, for the commands whose row says that they take it. */
  readonly rest: readonly string[] | undefined;
  readonly #options: GlobalOptions;
  readonly #interrupts = new Interrupts();
  readonly #connections: Connection[] = [];
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(options: GlobalOptions, rest?: readonly string[]) {
    this.#options = options;
    this.json = options.json === true;
    this.quiet = options.quiet === true;
    this.rest = rest;
    const { timeout } = options;
    if (timeout !== undefined) this.#timer = setTimeout(() => this.#giveUp(timeout), timeout).unref();
  }

  /** Aborts when the user interrupts; its reason ends `rex` with the right exit code when it is thrown on. */
  get signal(): AbortSignal {
    return this.#interrupts.signal;
  }

  /** For commands that pass Ctrl-C and the like on instead of ending by them. */
  onInterrupt(handler: (signal: Interrupt) => void): void {
    this.#interrupts.take(handler);
  }

  /** `--timeout` in milliseconds, for commands whose target sees to it; else the whole call ends when it is over. */
  takeTimeout(): number | undefined {
    clearTimeout(this.#timer);
    return this.#options.timeout;
  }

  /** False for `--no-keep`. */
  get keep(): boolean {
    return this.#options.keep;
  }

  /** What `--target` says. */
  get targetName(): string | undefined {
    return this.#options.target;
  }

  /** The named target, the one of `--target`, or the one that the project, the folder or the user's last choice says. */
  async choose(name?: string): Promise<TargetChoice> {
    if (name !== undefined && this.#options.target !== undefined && name !== this.#options.target)
      throw new UsageError(`two targets: "${name}" and --target ${this.#options.target}`);
    return await chooseTarget(name ?? this.#options.target, process.env);
  }

  /** A client of that target, closed when the command is over. */
  async connect(target?: string | TargetChoice): Promise<RexClient> {
    const choice = typeof target === 'object' ? target : await this.choose(target);
    return (await this.open(choice)).client;
  }

  /** The same for who reads one stream at the pace of somebody else: with a way to stop the other side. */
  async open(choice: TargetChoice): Promise<Connection> {
    const connection = await openClient(choice, {
      keep: this.#options.keep,
      signal: this.signal,
    });
    this.#connections.push(connection);
    return connection;
  }

  /** Where commands run and relative paths begin: `--cwd`; on this machine, where we are; else as the target says. */
  folderOn({ target }: TargetChoice): string | undefined {
    const { cwd } = this.#options;
    if (target === undefined) return resolve(cwd ?? '.');
    return cwd ?? target.defaultCwd;
  }

  /** Data, at the pace of its reader. */
  async out(data: string | Uint8Array): Promise<void> {
    await writeTo(process.stdout, data);
  }

  /** One value as one line of JSON. */
  async outJson(value: unknown): Promise<void> {
    await this.out(`${JSON.stringify(value)}\n`);
  }

  /** For people, on stderr; not when they asked for quiet. */
  say(text: string): void {
    if (!this.quiet) this.warn(text);
  }

  /** The same for what went wrong without ending the command. Names of strangers do not move the cursor. */
  warn(text: string): void {
    writeTo(process.stderr, `${printableLines(text)}\n`).catch(() => {}); // nobody listens: then nobody is told
  }

  /** Ends the command: what cannot be done, and what its user can do about it. */
  fail(message: string, hint?: string, exitCode?: number): never {
    throw new FailedError(message, hint, exitCode);
  }

  /** Ends the process, unless there is something to put in order: a kept connection is put in order by its keeper. */
  leaveIfDone(code: number): void {
    if (isAllWritten() && this.#connections.every(({ borrowed }) => borrowed)) process.exit(code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await settleAll(this.#connections.map(({ client }) => client.close()));
    clearTimeout(this.#timer);
    this.#interrupts[Symbol.dispose]();
  }

  #giveUp(afterMs: number): void {
    this.#interrupts.end(new FailedError(`gave up after ${afterMs} ms`, undefined, EXIT.timeout));
  }
}
