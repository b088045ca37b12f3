// Connections to a rexd that can be cut in every way a connection ends: both pipes at once, the program at its other end,
// or in silence, so that only one side knows.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { childLink } from '../../src/wire/transport/stdio.js';
import type { StreamLink } from '../../src/wire/transport/link.js';

export type Cut = 'pipes' | 'program' | 'silence';

export class Cuttable implements AsyncDisposable {
  readonly #command: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #remote: boolean;
  readonly children: ChildProcessByStdio<Writable, Readable, null>[] = [];
  #cut: (how: Cut) => void = () => {};

  /** `remote`: the command only leads to the server (ssh), so that the first may be killed like the others. */
  constructor(
    command: readonly string[],
    env: NodeJS.ProcessEnv,
    options: { readonly remote?: boolean } = {},
  ) {
    this.#command = command;
    this.#env = env;
    this.#remote = options.remote ?? false;
  }

  /** The program that was started first, which has the sessions; the others lead to it. */
  get first(): ChildProcessByStdio<Writable, Readable, null> | undefined {
    return this.children[0];
  }

  connect(): StreamLink {
    const [program = '', ...args] = this.#command;
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: this.#env });
    const isServer = this.children.length === 0 && !this.#remote;
    this.children.push(child);
    const [input, output] = [new PassThrough(), new PassThrough()];
    for (const stream of [child.stdin, child.stdout, input, output]) stream.on('error', () => {});
    child.stdout.pipe(input);
    output.pipe(child.stdin);
    this.#cut = (how) => {
      if (how === 'program' && !isServer) child.kill('SIGKILL');
      else if (how === 'silence') {
        child.stdout.unpipe(input);
        output.unpipe(child.stdin);
      } else {
        child.stdin.destroy();
        child.stdout.destroy();
      }
      if (how !== 'program' || isServer) input.destroy(new Error(`cut: ${how}`));
    };
    return childLink({ stdin: output, stdout: input }, 'cuttable');
  }

  /** The connection that was made last. */
  cut(how: Cut): void {
    this.#cut(how);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.children.map(async (child) => {
        child.stdin.destroy();
        child.stdout.destroy();
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await exited;
      }),
    );
  }
}
