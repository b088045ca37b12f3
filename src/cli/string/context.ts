// What a command of `string` is given: the daemon and the agent it is for, its streams, its signal, a way to say that it cannot.

import type { StringClient } from '../../client/string/string-client.js';
import { parsePort, readConfig, type StringdConfig } from '../../string/config.js';
import { EarlyOutput } from '../early-output.js';
import { EXIT } from '../exit-codes.js';
import { FailedError } from '../failed-error.js';
import { type Flags, UsageError } from '../flags.js';
import { Interrupts } from '../interrupts.js';
import { parseDuration } from '../parse-duration.js';
import { writeTo } from '../standard-output.js';
import { type AgentChoice, chooseAgent } from './choose-agent.js';

/** As the daemon has it. */
const MAX_REQUEST_ID_CHARS = 256;

export class StringContext implements Disposable {
  readonly config: StringdConfig;
  readonly flags: Flags;
  /** Ctrl-C and its like. */
  readonly interrupts = new Interrupts();
  readonly #timeoutMs: number | undefined;
  readonly #output = new EarlyOutput();
  #agent: AgentChoice | undefined;

  constructor(flags: Flags, env: NodeJS.ProcessEnv = process.env) {
    this.flags = flags;
    const port = flags.value('port');
    // The flag counts for more: a variable that it overrides need not be right.
    const config = readConfig(port === undefined ? env : { ...env, STRING_PORT: undefined });
    this.config = port === undefined ? config : { ...config, port: parsePort('--port', port, 1) };
    const requestId = flags.value('request-id');
    if (requestId !== undefined && (requestId.length > MAX_REQUEST_ID_CHARS || /\p{Cc}/u.test(requestId)))
      throw new UsageError(`--request-id: expected one line of at most ${MAX_REQUEST_ID_CHARS} characters`);
    const timeout = flags.value('timeout');
    this.#timeoutMs = timeout === undefined ? undefined : parseDuration(timeout);
  }

  get json(): boolean {
    return this.flags.has('json');
  }

  get raw(): boolean {
    return this.flags.has('raw');
  }

  get timeoutMs(): number | undefined {
    return this.#timeoutMs;
  }

  /** Aborts when the user interrupts; its reason ends `string` with the right exit code when it is thrown on. */
  get signal(): AbortSignal {
    return this.interrupts.signal;
  }

  get agent(): AgentChoice {
    this.#agent ??= chooseAgent(process.env, {
      root: this.config.root,
      cwd: process.cwd(),
      flag: this.flags.value('agent'),
    });
    return this.#agent;
  }

  /** A client of the daemon, which is started when there is none, for the agent of this call. */
  async client(): Promise<StringClient> {
    const { openClient } = await import('./open-client.js');
    return openClient(this);
  }

  /** Data, at the pace of its reader. */
  async out(text: string): Promise<void> {
    await this.#output.write('stdout', Buffer.from(text));
  }

  /** A text, and the exit code that goes with it. */
  async print(text: string): Promise<number> {
    await this.out(`${text}\n`);
    return EXIT.ok;
  }

  /** For people, on stderr. */
  say(text: string): void {
    writeTo(process.stderr, `${text}\n`).catch(() => {}); // nobody listens: then nobody is told
  }

  /** Ends the call: what cannot be done, and what its user can do about it. */
  fail(message: string, hint?: string, exitCode?: number): never {
    throw new FailedError(message, hint, exitCode);
  }

  [Symbol.dispose](): void {
    this.interrupts[Symbol.dispose]();
  }
}
