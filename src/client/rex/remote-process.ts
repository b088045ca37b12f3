// A process on the other side: its output, its input, its end.

import { Resource } from '../../base/resource.js';
import type { OutputChunk } from './remote-output.js';
import type { RexParams } from './rex-methods.js';

/** How it ended; `exitCode` is 128 and the number of the signal when one ended it. */
export interface RemoteExit {
  readonly exitCode: number;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly outputLimitExceeded: boolean;
  readonly durationMs: number;
}

export interface ProcessOutput {
  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void>;
}

export interface RemoteProcessActions {
  readonly kill: (signal: string) => Promise<void>;
  readonly write: (params: Pick<RexParams<'exec.input'>, 'data' | 'encoding' | 'eof'>) => Promise<number>;
}

/** Closing it kills what still runs; a process that was started detached is only let go of. */
export class RemoteProcess extends Resource implements AsyncIterable<OutputChunk> {
  readonly id: string;
  readonly pid: number | undefined;
  /** Rejects when the connection is lost for good before the end was heard of. */
  readonly exit: Promise<RemoteExit>;
  readonly #output: ProcessOutput;
  readonly #actions: RemoteProcessActions;
  readonly #detached: boolean;
  #ended = false;

  constructor(facts: {
    readonly id: string;
    readonly pid?: number | undefined;
    readonly exit: Promise<RemoteExit>;
    readonly output: ProcessOutput;
    readonly actions: RemoteProcessActions;
    readonly detached: boolean;
  }) {
    super();
    this.id = facts.id;
    this.pid = facts.pid;
    this.exit = facts.exit;
    this.#output = facts.output;
    this.#actions = facts.actions;
    this.#detached = facts.detached;
    facts.exit.then(
      () => (this.#ended = true),
      () => (this.#ended = true),
    );
  }

  /** Output as it comes, from both streams. Ends with the process; can be read once. */
  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void> {
    return this.#output[Symbol.asyncIterator]();
  }

  /** Resolves when the process has been given it all; bytes that are not UTF-8 are sent as they are. */
  async write(data: string | Uint8Array): Promise<void> {
    const [text, encoding] =
      typeof data === 'string'
        ? [data, 'utf8' as const]
        : [Buffer.from(data).toString('base64'), 'base64' as const];
    await this.#actions.write({ data: text, encoding });
  }

  async endInput(): Promise<void> {
    await this.#actions.write({ eof: true });
  }

  /** TERM, the default, is followed by KILL after a grace; all that descends from the process is meant. */
  async kill(signal = 'TERM'): Promise<void> {
    if (!this.#ended) await this.#actions.kill(signal);
  }

  protected override async release(): Promise<void> {
    if (!this.#ended && !this.#detached) await this.#actions.kill('KILL').catch(() => {});
  }
}
